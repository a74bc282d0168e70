/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cutting dense data, for the predefined filters of all dense interfaces (handbook 27.7, 27.8).
 *
 * The division rule: n elements in nparts pieces give n / nparts each, and one more to each of the
 * first n % nparts pieces.
 *
 * Invariant: a piece lies within its father's buffer: it has the father's dev_handle and leading
 * dimensions, an offset that grows by where it starts, and ptr = the father's ptr plus the same;
 * where the father has no buffer all three are 0. */
#include "data/iface/filter_dense.h"
#include "base/log.h"

#include <string.h>

void starpu_filter_nparts_compute_chunk_size_and_offset(unsigned n, unsigned nparts,
							size_t elemsize, unsigned id,
							unsigned blocksize, unsigned *chunk_size,
							size_t *offset)
{
	if (!nparts || id >= nparts)
		orr_fatal("cutting %u elements: there is no piece %u of %u pieces", n, id, nparts);
	unsigned chunk = n / nparts;
	unsigned rest = n % nparts;
	if (chunk_size)
		*chunk_size = chunk + (id < rest);
	if (offset)
		*offset = ((size_t) id * chunk + (id < rest ? id : rest)) * blocksize * elemsize;
}

/* The father's view. Each built-in interface begins with its number: a filter of another one is the
 * program's mistake. */
static void father_view(enum starpu_data_interface_id id, void *father, struct orr_dense *f)
{
	orr_filter_check_father(id, father);
	orr_dense_view(id, father, f);
}

void orr_filter_check_father(enum starpu_data_interface_id id, const void *father)
{
	enum starpu_data_interface_id got = *(const enum starpu_data_interface_id *) father;
	const struct starpu_data_interface_ops *ops = orr_iface_ops(got);

	if (got != id)
		orr_fatal(
			"a filter of %s data is applied to data of the %s interface; use the filter of that interface",
			orr_iface_ops(id)->name, ops ? ops->name : "user-defined");
}

/* The piece that starts `skip` elements into the father, with the given shape. */
static void fill_child(const struct orr_dense *f, enum starpu_data_interface_id child_id,
		       void *child, size_t ndim, const uint32_t *nn, const uint32_t *ldn,
		       size_t skip)
{
	const struct starpu_data_interface_ops *ops = orr_iface_ops(child_id);
	size_t bytes = skip * f->elemsize;
	int there = *f->ptr || *f->dev_handle;

	if (child_id != STARPU_NDIM_INTERFACE_ID && ndim > 0 && nn[0] > 1 && ldn[0] != 1)
		orr_fatal(
			"filter: elements along x would be %u apart, a %s needs them side by side; pick along another dimension than 0",
			ldn[0], ops->name);
	orr_dense_fill(child_id, child, f->elemsize, ndim, nn, ldn,
		       there && *f->ptr ? *f->ptr + bytes : 0, there ? *f->dev_handle : 0,
		       there ? *f->offset + bytes : 0);
}

static void check_dims(const struct orr_dense *f, enum starpu_data_interface_id father_id,
		       enum starpu_data_interface_id child_id, size_t ndim)
{
	static const signed char dims[STARPU_MAX_INTERFACE_ID] = {
		[STARPU_VECTOR_INTERFACE_ID] = 1, [STARPU_MATRIX_INTERFACE_ID] = 2,
		[STARPU_BLOCK_INTERFACE_ID] = 3,  [STARPU_TENSOR_INTERFACE_ID] = 4,
		[STARPU_NDIM_INTERFACE_ID] = -1,
	};

	if (dims[child_id] >= 0 && (size_t) dims[child_id] != ndim)
		orr_fatal(
			"filter: a piece of the %zu dimensions of this %s would have %zu, a %s has %d; choose the filter for as many dimensions",
			f->ndim, orr_iface_ops(father_id)->name, ndim,
			orr_iface_ops(child_id)->name, dims[child_id]);
}

static void check_dim(const struct orr_dense *f, enum starpu_data_interface_id father_id,
		      unsigned dim)
{
	if (dim >= f->ndim)
		orr_fatal(
			"filter: this %s has %zu dimensions, counted from 0; there is no dimension %u (filter_arg)",
			orr_iface_ops(father_id)->name, f->ndim, dim);
}

static void cut(const struct orr_dense *f, enum starpu_data_interface_id father_id,
		enum starpu_data_interface_id child_id, void *child, unsigned dim, uint32_t first,
		uint32_t len)
{
	uint32_t nn[ORR_DENSE_MAXDIM];

	check_dims(f, father_id, child_id, f->ndim);
	memcpy(nn, f->nn, f->ndim * sizeof(*nn));
	if (f->ndim)
		nn[dim] = len;
	fill_child(f, child_id, child, f->ndim, nn, f->ldn,
		   f->ndim ? (size_t) first * f->ldn[dim] : 0);
}

void orr_dense_cut(enum starpu_data_interface_id father_id, void *father,
		   enum starpu_data_interface_id child_id, void *child, unsigned dim,
		   uint32_t start, uint32_t len)
{
	struct orr_dense f;

	father_view(father_id, father, &f);
	if (f.ndim)
		check_dim(&f, father_id, dim);
	if (f.ndim && ((size_t) start + len > f.nn[dim]))
		orr_fatal(
			"filter: elements %u to %zu are outside of dimension %u of this %s, which has %u",
			start, (size_t) start + len, dim, orr_iface_ops(father_id)->name,
			f.nn[dim]);
	cut(&f, father_id, child_id, child, dim, start, len);
}

void orr_dense_cut_block(enum starpu_data_interface_id father_id, void *father,
			 enum starpu_data_interface_id child_id, void *child, unsigned dim,
			 unsigned id, unsigned nparts, uintptr_t shadow)
{
	struct orr_dense f;
	unsigned chunk;
	size_t start;

	father_view(father_id, father, &f);
	check_dim(&f, father_id, dim);
	if (shadow > f.nn[dim] / 2)
		orr_fatal(
			"filter: a border of %zu elements on each side (filter_arg_ptr) leaves nothing of the %u elements of dimension %u",
			(size_t) shadow, f.nn[dim], dim);
	uint32_t n = f.nn[dim] - (uint32_t) (2 * shadow);
	if (nparts > n)
		orr_fatal(
			"filter: %u elements of dimension %u of this %s cannot be cut into %u pieces; use at most %u",
			n, dim, orr_iface_ops(father_id)->name, nparts, n);
	starpu_filter_nparts_compute_chunk_size_and_offset(n, nparts, 1, id, 1, &chunk, &start);
	cut(&f, father_id, child_id, child, dim, (uint32_t) start, chunk + (uint32_t) (2 * shadow));
}

void orr_dense_pick(enum starpu_data_interface_id father_id, void *father,
		    enum starpu_data_interface_id child_id, void *child, unsigned dim,
		    uintptr_t pos)
{
	uint32_t nn[ORR_DENSE_MAXDIM] = { 1 }, ldn[ORR_DENSE_MAXDIM] = { 1 };
	struct orr_dense f;
	size_t n = 0;

	father_view(father_id, father, &f);
	check_dim(&f, father_id, dim);
	if (pos >= f.nn[dim])
		orr_fatal(
			"filter: there is no slice %zu along dimension %u of this %s, which has %u; lower filter_arg_ptr or nchildren",
			(size_t) pos, dim, orr_iface_ops(father_id)->name, f.nn[dim]);
	for (size_t i = 0; i < f.ndim; i++) {
		if (i == dim)
			continue;
		nn[n] = f.nn[i];
		ldn[n++] = f.ldn[i];
	}
	check_dims(&f, father_id, child_id, n);
	fill_child(&f, child_id, child, n, nn, ldn, pos * f.ldn[dim]);
}

void orr_dense_pick_variable(enum starpu_data_interface_id father_id, void *father, void *child,
			     const uint32_t *pos, unsigned id)
{
	struct orr_dense f;
	size_t skip = 0;

	father_view(father_id, father, &f);
	if (f.ndim && !pos)
		orr_fatal(
			"filter: picking an element of this %s takes an array of %zu positions in filter_arg_ptr",
			orr_iface_ops(father_id)->name, f.ndim);
	for (size_t i = 0; i < f.ndim; i++) {
		size_t at = (size_t) pos[i] + (i ? 0 : id);

		if (at >= f.nn[i])
			orr_fatal(
				"filter: there is no element at position %zu of dimension %zu of this %s, which has %u; correct filter_arg_ptr or nchildren",
				at, i, orr_iface_ops(father_id)->name, f.nn[i]);
		skip += at * f.ldn[i];
	}
	fill_child(&f, STARPU_VARIABLE_INTERFACE_ID, child, 0, NULL, NULL, skip);
}
