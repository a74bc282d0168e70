/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layout of a payload (see mpi_layout.h).
 *
 * Invariant: no count that is given to MPI exceeds INT_MAX, and no size of a datatype of MPI is
 * asked for in an int. */
#include "base/mpi_layout.h"

#include <limits.h>
#include "base/assert.h"
#include "base/seam.h"
#include "base/seam_memory.h"

/* MPI_Type_dup() of SMPI 3.32 makes a wrong copy of indexed types. */
void orr_layout_keep(struct orr_layout *kept, const struct orr_layout *l)
{
	int one = 1;
	MPI_Aint zero = 0;

	*kept = *l;
	if (l->type == MPI_DATATYPE_NULL)
		return;
	MPI_Type_create_hindexed(1, &one, &zero, l->type, &kept->type);
	MPI_Type_commit(&kept->type);
}

void orr_layout_drop(struct orr_layout *kept)
{
	if (kept->type != MPI_DATATYPE_NULL)
		MPI_Type_free(&kept->type);
}

/* ---- rows ---- */

/* A place in rows: the rest of the present row, and the number of each outer item. */
struct cursor {
	const struct orr_layout *l;
	char *at;
	size_t left;
	size_t i[ORR_LAYOUT_MAXDIM];
};

static void cursor_begin(struct cursor *c, const struct orr_layout *l, const void *at)
{
	c->l = l;
	c->at = (char *) at;
	c->left = l->n[0];
	for (unsigned d = 1; d < l->ndim; d++)
		c->i[d] = 0;
}

/* Passes n bytes of the present row, and goes on to the next row at its end. */
static void cursor_pass(struct cursor *c, size_t n)
{
	const struct orr_layout *l = c->l;

	c->at += n;
	c->left -= n;
	if (c->left)
		return;
	c->at -= l->n[0];
	c->left = l->n[0];
	for (unsigned d = 1; d < l->ndim; d++) {
		c->at += l->stride[d];
		if (++c->i[d] < l->n[d])
			return;
		c->at -= l->n[d] * l->stride[d];
		c->i[d] = 0;
	}
}

void orr_layout_copy(struct orr_process *proc, const struct orr_layout *to, void *to_at,
		     const struct orr_layout *from, const void *from_at)
{
	struct cursor in, out;

	orr_assert(to->size == from->size);
	orr_assert(to->type == MPI_DATATYPE_NULL && from->type == MPI_DATATYPE_NULL);
	cursor_begin(&in, to, to_at);
	cursor_begin(&out, from, from_at);
	for (size_t left = to->size, n; left; left -= n) {
		n = in.left < out.left ? in.left : out.left;
		orr_sys_memcpy(proc, in.at, out.at, n);
		cursor_pass(&in, n);
		cursor_pass(&out, n);
	}
}

/* ---- datatypes of the program ---- */

/* MPI counts the bytes of a pack in an int; a message to oneself has no such limit. */
static void convert(const struct orr_layout *l, const void *at, void *row, int scatters)
{
	struct orr_layout plain;
	MPI_Datatype bytes;
	MPI_Comm self;
	int count, position = 0, size = (int) l->size;

	if (l->size <= INT_MAX && scatters) {
		MPI_Unpack(row, size, &position, (void *) at, 1, l->type, MPI_COMM_SELF);
		return;
	}
	if (l->size <= INT_MAX) {
		MPI_Pack(at, 1, l->type, row, size, &position, MPI_COMM_SELF);
		return;
	}
	int temporary = orr_layout_type(orr_layout_row(&plain, l->size), &bytes, &count);
	MPI_Comm_dup(MPI_COMM_SELF, &self); /* apart from the program's messages */
	if (scatters)
		MPI_Sendrecv(row, count, bytes, 0, 0, (void *) at, 1, l->type, 0, 0, self,
			     MPI_STATUS_IGNORE);
	else
		MPI_Sendrecv(at, 1, l->type, 0, 0, row, count, bytes, 0, 0, self,
			     MPI_STATUS_IGNORE);
	MPI_Comm_free(&self);
	if (temporary)
		MPI_Type_free(&bytes);
}

void orr_layout_gather(struct orr_process *proc, const struct orr_layout *l, const void *at,
		       void *row)
{
	struct orr_layout plain;

	if (!l->size || !orr_sys_has_payload(proc))
		return;
	if (l->type == MPI_DATATYPE_NULL)
		orr_layout_copy(proc, orr_layout_row(&plain, l->size), row, l, at);
	else
		convert(l, at, row, 0);
}

void orr_layout_scatter(struct orr_process *proc, const struct orr_layout *l, void *at,
			const void *row)
{
	struct orr_layout plain;

	if (!l->size || !orr_sys_has_payload(proc))
		return;
	if (l->type == MPI_DATATYPE_NULL)
		orr_layout_copy(proc, l, at, orr_layout_row(&plain, l->size), row);
	else
		convert(l, at, (void *) row, 1);
}

/* ---- datatypes for MPI ---- */

/* n items of a type, `stride` bytes apart; touching: the items have no gaps between them. */
static MPI_Datatype items(MPI_Datatype item, int n, size_t stride, int touching)
{
	MPI_Datatype type;

	if (touching)
		MPI_Type_contiguous(n, item, &type);
	else
		MPI_Type_create_hvector(n, 1, (MPI_Aint) stride, item, &type);
	return type;
}

/* The same for any n: more than MPI can count are chunks of items, and a rest. */
static MPI_Datatype many_items(MPI_Datatype item, size_t n, size_t stride, int touching)
{
	const size_t chunk = (size_t) 1 << 24;

	if (n <= INT_MAX)
		return items(item, (int) n, stride, touching);
	orr_assert(n / chunk <= INT_MAX);
	MPI_Datatype one = items(item, (int) chunk, stride, touching), type;
	MPI_Datatype both[2] = { items(one, (int) (n / chunk), chunk * stride, touching), item };
	int lengths[2] = { 1, 1 }, parts = 1;
	MPI_Aint offsets[2] = { 0, (MPI_Aint) ((n - n % chunk) * stride) };

	if (n % chunk) {
		both[1] = items(item, (int) (n % chunk), stride, touching);
		parts = 2;
	}
	MPI_Type_create_struct(parts, lengths, offsets, both, &type);
	for (int i = 0; i < parts; i++)
		MPI_Type_free(&both[i]);
	MPI_Type_free(&one);
	return type;
}

int orr_layout_type(const struct orr_layout *l, MPI_Datatype *type, int *count)
{
	*count = 1;
	*type = l->type;
	if (l->type != MPI_DATATYPE_NULL)
		return 0;
	if (l->size <= INT_MAX && orr_layout_is_row(l)) {
		*type = MPI_BYTE;
		*count = (int) l->size;
		return 0;
	}
	MPI_Datatype inner = many_items(MPI_BYTE, l->n[0], 1, 1), outer;
	for (unsigned d = 1; d < l->ndim; d++) {
		outer = many_items(inner, l->n[d], l->stride[d], 0);
		MPI_Type_free(&inner);
		inner = outer;
	}
	MPI_Type_commit(&inner);
	*type = inner;
	return 1;
}
