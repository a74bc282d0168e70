/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predefined filters of tensors: block cuts x, vertical_block y, depth_block z, time_block t;
 * pick_block_D gives a slice across D.
 *
 * Invariant: pure arithmetic on the two interface structures (data/iface/filter_dense.c); nothing
 * is allocated or copied. */
#include "data/iface/filter_dense.h"

#define TENSOR STARPU_TENSOR_INTERFACE_ID

void starpu_tensor_filter_block(void *father, void *child, struct starpu_data_filter *f,
				unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(TENSOR, father, TENSOR, child, 0, id, nparts, 0);
}

void starpu_tensor_filter_block_shadow(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	orr_dense_cut_block(TENSOR, father, TENSOR, child, 0, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_tensor_filter_vertical_block(void *father, void *child, struct starpu_data_filter *f,
					 unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(TENSOR, father, TENSOR, child, 1, id, nparts, 0);
}

void starpu_tensor_filter_vertical_block_shadow(void *father, void *child,
						struct starpu_data_filter *f, unsigned id,
						unsigned nparts)
{
	orr_dense_cut_block(TENSOR, father, TENSOR, child, 1, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_tensor_filter_depth_block(void *father, void *child, struct starpu_data_filter *f,
				      unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(TENSOR, father, TENSOR, child, 2, id, nparts, 0);
}

void starpu_tensor_filter_depth_block_shadow(void *father, void *child,
					     struct starpu_data_filter *f, unsigned id,
					     unsigned nparts)
{
	orr_dense_cut_block(TENSOR, father, TENSOR, child, 2, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_tensor_filter_time_block(void *father, void *child, struct starpu_data_filter *f,
				     unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(TENSOR, father, TENSOR, child, 3, id, nparts, 0);
}

void starpu_tensor_filter_time_block_shadow(void *father, void *child, struct starpu_data_filter *f,
					    unsigned id, unsigned nparts)
{
	orr_dense_cut_block(TENSOR, father, TENSOR, child, 3, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

void starpu_tensor_filter_pick_block_y(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(TENSOR, father, STARPU_BLOCK_INTERFACE_ID, child, 1,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_tensor_filter_pick_block_z(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(TENSOR, father, STARPU_BLOCK_INTERFACE_ID, child, 2,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_tensor_filter_pick_block_t(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(TENSOR, father, STARPU_BLOCK_INTERFACE_ID, child, 3,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_tensor_filter_pick_variable(void *father, void *child, struct starpu_data_filter *f,
					unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick_variable(TENSOR, father, child, f->filter_arg_ptr, id);
}

struct starpu_data_interface_ops *starpu_tensor_filter_pick_block_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_block_ops;
}

struct starpu_data_interface_ops *starpu_tensor_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_variable_ops;
}
