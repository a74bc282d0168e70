/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predefined filters of matrices: block cuts x, vertical_block cuts y, pick_vector_y gives a
 * column.
 *
 * Invariant: pure arithmetic on the two interface structures (data/iface/filter_dense.c); nothing
 * is allocated or copied. */
#include "data/iface/filter_dense.h"

#define MATRIX STARPU_MATRIX_INTERFACE_ID

void starpu_matrix_filter_block(void *father, void *child, struct starpu_data_filter *f,
				unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(MATRIX, father, MATRIX, child, 0, id, nparts, 0);
}

void starpu_matrix_filter_block_shadow(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	orr_dense_cut_block(MATRIX, father, MATRIX, child, 0, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_matrix_filter_vertical_block(void *father, void *child, struct starpu_data_filter *f,
					 unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(MATRIX, father, MATRIX, child, 1, id, nparts, 0);
}

void starpu_matrix_filter_vertical_block_shadow(void *father, void *child,
						struct starpu_data_filter *f, unsigned id,
						unsigned nparts)
{
	orr_dense_cut_block(MATRIX, father, MATRIX, child, 1, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_matrix_filter_pick_vector_y(void *father, void *child, struct starpu_data_filter *f,
					unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(MATRIX, father, STARPU_VECTOR_INTERFACE_ID, child, 1,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_matrix_filter_pick_variable(void *father, void *child, struct starpu_data_filter *f,
					unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick_variable(MATRIX, father, child, f->filter_arg_ptr, id);
}

struct starpu_data_interface_ops *starpu_matrix_filter_pick_vector_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_vector_ops;
}

struct starpu_data_interface_ops *starpu_matrix_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_variable_ops;
}
