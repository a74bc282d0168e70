/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predefined filters of n-dimensional data: filter_arg is the dimension to cut or to drop. to_X
 * gives a datum of X's number of dimensions another interface.
 *
 * Invariant: pure arithmetic on the two interface structures (data/iface/filter_dense.c); nothing
 * is allocated or copied but the children's sizes and leading dimensions, which the structure owns
 * (data/iface/iface.h). */
#include "data/iface/filter_dense.h"
#include "base/log.h"

#define NDIM STARPU_NDIM_INTERFACE_ID

void starpu_ndim_filter_block(void *father, void *child, struct starpu_data_filter *f, unsigned id,
			      unsigned nparts)
{
	orr_dense_cut_block(NDIM, father, NDIM, child, f->filter_arg, id, nparts, 0);
}

void starpu_ndim_filter_block_shadow(void *father, void *child, struct starpu_data_filter *f,
				     unsigned id, unsigned nparts)
{
	orr_dense_cut_block(NDIM, father, NDIM, child, f->filter_arg, id, nparts,
			    (uintptr_t) f->filter_arg_ptr);
}

/* The same data seen by another interface; in several pieces along filter_arg when asked for. */
static void convert(void *father, enum starpu_data_interface_id child_id, void *child,
		    const struct starpu_data_filter *f, unsigned id, unsigned nparts)
{
	const struct starpu_ndim_interface *n = father;

	if (nparts > 1)
		orr_dense_cut_block(NDIM, father, child_id, child, f->filter_arg, id, nparts, 0);
	else
		orr_dense_cut(NDIM, father, child_id, child, 0, 0, n->ndim ? n->nn[0] : 0);
}

void starpu_ndim_filter_to_tensor(void *father, void *child, struct starpu_data_filter *f,
				  unsigned id, unsigned nparts)
{
	convert(father, STARPU_TENSOR_INTERFACE_ID, child, f, id, nparts);
}

void starpu_ndim_filter_to_block(void *father, void *child, struct starpu_data_filter *f,
				 unsigned id, unsigned nparts)
{
	convert(father, STARPU_BLOCK_INTERFACE_ID, child, f, id, nparts);
}

void starpu_ndim_filter_to_matrix(void *father, void *child, struct starpu_data_filter *f,
				  unsigned id, unsigned nparts)
{
	convert(father, STARPU_MATRIX_INTERFACE_ID, child, f, id, nparts);
}

void starpu_ndim_filter_to_vector(void *father, void *child, struct starpu_data_filter *f,
				  unsigned id, unsigned nparts)
{
	convert(father, STARPU_VECTOR_INTERFACE_ID, child, f, id, nparts);
}

/* A datum without dimensions, or with one element. */
void starpu_ndim_filter_to_variable(void *father, void *child, struct starpu_data_filter *f,
				    unsigned id, unsigned nparts)
{
	static const uint32_t first[ORR_DENSE_MAXDIM];
	const struct starpu_ndim_interface *n = father;

	(void) f;
	for (size_t i = 0; i < n->ndim; i++)
		if (n->nn[i] != 1)
			orr_fatal(
				"starpu_ndim_filter_to_variable: dimension %zu has %u elements; only a single element is a variable, use starpu_ndim_filter_pick_variable",
				i, n->nn[i]);
	if (nparts != 1)
		orr_fatal(
			"starpu_ndim_filter_to_variable: nchildren is %u; a single element makes one piece",
			nparts);
	orr_dense_pick_variable(NDIM, father, child, first, id);
}

void starpu_ndim_filter_pick_ndim(void *father, void *child, struct starpu_data_filter *f,
				  unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(NDIM, father, NDIM, child, f->filter_arg,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_ndim_filter_5d_pick_tensor(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(NDIM, father, STARPU_TENSOR_INTERFACE_ID, child, f->filter_arg,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_ndim_filter_4d_pick_block(void *father, void *child, struct starpu_data_filter *f,
				      unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(NDIM, father, STARPU_BLOCK_INTERFACE_ID, child, f->filter_arg,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_ndim_filter_3d_pick_matrix(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(NDIM, father, STARPU_MATRIX_INTERFACE_ID, child, f->filter_arg,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_ndim_filter_2d_pick_vector(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(NDIM, father, STARPU_VECTOR_INTERFACE_ID, child, f->filter_arg,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_ndim_filter_1d_pick_variable(void *father, void *child, struct starpu_data_filter *f,
					 unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(NDIM, father, STARPU_VARIABLE_INTERFACE_ID, child, 0,
		       (uintptr_t) f->filter_arg_ptr + id);
}

void starpu_ndim_filter_pick_variable(void *father, void *child, struct starpu_data_filter *f,
				      unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick_variable(NDIM, father, child, f->filter_arg_ptr, id);
}

struct starpu_data_interface_ops *starpu_ndim_filter_pick_tensor_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_tensor_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_pick_block_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_block_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_pick_matrix_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_matrix_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_pick_vector_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_vector_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_variable_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_to_tensor_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_tensor_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_to_block_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_block_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_to_matrix_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_matrix_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_to_vector_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_vector_ops;
}

struct starpu_data_interface_ops *starpu_ndim_filter_to_variable_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_variable_ops;
}
