/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predefined filters of vectors. slice_base of a piece counts from the start of the vector that was
 * divided first.
 *
 * Invariant: pure arithmetic on the two interface structures; the pieces of a filter cover the
 * vector in the order of their numbers. */
#include "data/iface/filter_dense.h"
#include "base/log.h"

#define VECTOR STARPU_VECTOR_INTERFACE_ID

static uint32_t start_of(const struct starpu_vector_interface *v, unsigned nparts, unsigned id)
{
	size_t start;

	starpu_filter_nparts_compute_chunk_size_and_offset(v->nx, nparts, 1, id, 1, NULL, &start);
	return (uint32_t) start;
}

static void set_base(void *father, void *child, uint32_t start)
{
	((struct starpu_vector_interface *) child)->slice_base =
		((struct starpu_vector_interface *) father)->slice_base + start;
}

void starpu_vector_filter_block(void *father, void *child, struct starpu_data_filter *f,
				unsigned id, unsigned nparts)
{
	(void) f;
	orr_dense_cut_block(VECTOR, father, VECTOR, child, 0, id, nparts, 0);
	set_base(father, child, start_of(father, nparts, id));
}

void starpu_vector_filter_block_shadow(void *father, void *child, struct starpu_data_filter *f,
				       unsigned id, unsigned nparts)
{
	struct starpu_vector_interface inner = *(struct starpu_vector_interface *) father;
	uintptr_t shadow = (uintptr_t) f->filter_arg_ptr;

	orr_dense_cut_block(VECTOR, father, VECTOR, child, 0, id, nparts, shadow);
	inner.nx -= (uint32_t) (2 * shadow);
	set_base(father, child, start_of(&inner, nparts, id));
}

void starpu_vector_filter_divide_in_2(void *father, void *child, struct starpu_data_filter *f,
				      unsigned id, unsigned nparts)
{
	uint32_t nx = ((struct starpu_vector_interface *) father)->nx, first = f->filter_arg;

	if (nparts != 2)
		orr_fatal("starpu_vector_filter_divide_in_2: nchildren is %u; it must be 2",
			  nparts);
	if (first >= nx)
		orr_fatal(
			"starpu_vector_filter_divide_in_2: the first piece has %u elements (filter_arg) of %u; it must leave some for the second",
			first, nx);
	orr_dense_cut(VECTOR, father, VECTOR, child, 0, id ? first : 0, id ? nx - first : first);
	set_base(father, child, id ? first : 0);
}

/* Pieces of given lengths; value(lengths, i) is the i-th. */
static void cut_list(void *father, void *child, const void *lengths,
		     long (*value)(const void *, unsigned), unsigned id, unsigned nparts,
		     const char *name)
{
	uint32_t nx = ((struct starpu_vector_interface *) father)->nx;
	uint64_t start = 0, sum = 0;

	if (!lengths)
		orr_fatal("%s: filter_arg_ptr is NULL; it must be an array of %u lengths", name,
			  nparts);
	for (unsigned i = 0; i < nparts; i++) {
		if (value(lengths, i) < 0)
			orr_fatal("%s: length %u is negative (%ld)", name, i, value(lengths, i));
		if (i == id)
			start = sum;
		sum += (uint64_t) value(lengths, i);
	}
	if (sum != nx)
		orr_fatal(
			"%s: the %u lengths add up to %llu, the vector has %u elements; they must be equal",
			name, nparts, (unsigned long long) sum, nx);
	orr_dense_cut(VECTOR, father, VECTOR, child, 0, (uint32_t) start,
		      (uint32_t) value(lengths, id));
	set_base(father, child, (uint32_t) start);
}

static long value_long(const void *p, unsigned i)
{
	return ((const long *) p)[i];
}
static long value_u32(const void *p, unsigned i)
{
	return (long) ((const uint32_t *) p)[i];
}

void starpu_vector_filter_list_long(void *father, void *child, struct starpu_data_filter *f,
				    unsigned id, unsigned nparts)
{
	cut_list(father, child, f->filter_arg_ptr, value_long, id, nparts, __func__);
}

void starpu_vector_filter_list(void *father, void *child, struct starpu_data_filter *f, unsigned id,
			       unsigned nparts)
{
	cut_list(father, child, f->filter_arg_ptr, value_u32, id, nparts, __func__);
}

void starpu_vector_filter_pick_variable(void *father, void *child, struct starpu_data_filter *f,
					unsigned id, unsigned nparts)
{
	(void) nparts;
	orr_dense_pick(VECTOR, father, STARPU_VARIABLE_INTERFACE_ID, child, 0,
		       (uintptr_t) f->filter_arg_ptr + id);
}

struct starpu_data_interface_ops *starpu_vector_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_variable_ops;
}
