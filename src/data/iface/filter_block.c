/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predefined filters of blocks: block cuts x, vertical_block y, depth_block z; pick_matrix_D gives
 * a slice across D.
 *
 * Invariant: pure arithmetic on the two interface structures (data/iface/filter_dense.c); nothing
 * is allocated or copied. */
#include "data/iface/filter_dense.h"

#define BLOCK STARPU_BLOCK_INTERFACE_ID

void starpu_block_filter_block(void *father, void *child, struct starpu_data_filter *f, unsigned id,
			       unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(BLOCK, father, BLOCK, child, 0, id, nparts, 0);
}

void starpu_block_filter_block_shadow(void *father, void *child, struct starpu_data_filter *f,
				      unsigned id, unsigned nparts)
{
	orr_dense_cut_block(BLOCK, father, BLOCK, child, 0, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_block_filter_vertical_block(void *father, void *child, struct starpu_data_filter *f,
					unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(BLOCK, father, BLOCK, child, 1, id, nparts, 0);
}

void starpu_block_filter_vertical_block_shadow(void *father, void *child,
					       struct starpu_data_filter *f, unsigned id,
					       unsigned nparts)
{
	orr_dense_cut_block(BLOCK, father, BLOCK, child, 1, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_block_filter_depth_block(void *father, void *child, struct starpu_data_filter *f,
				     unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(BLOCK, father, BLOCK, child, 2, id, nparts, 0);
}

void starpu_block_filter_depth_block_shadow(void *father, void *child, struct starpu_data_filter *f,
					    unsigned id, unsigned nparts)
{
	orr_dense_cut_block(BLOCK, father, BLOCK, child, 2, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_block_filter_pick_matrix_y(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(BLOCK, father, STARPU_MATRIX_INTERFACE_ID, child, 1,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_block_filter_pick_matrix_z(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(BLOCK, father, STARPU_MATRIX_INTERFACE_ID, child, 2,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_block_filter_pick_variable(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick_variable(BLOCK, father, child, f->filter_arg_ptr, id);
}

struct starpu_data_interface_ops *starpu_block_filter_pick_matrix_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_matrix_ops;
}

struct starpu_data_interface_ops *starpu_block_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_variable_ops;
}
