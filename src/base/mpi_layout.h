/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layout of a payload in memory: a row of bytes, rows with gaps between them, or a datatype of
 * the program. Sizes are size_t everywhere; the counts of MPI, which are int, occur where a
 * transport asks for a datatype (orr_layout_type), and nowhere else.
 *
 * Both libraries of the real world have this header; mpi_layout.c, which calls MPI, is in the one
 * with messages only.
 *
 * Invariant: rows that touch each other are one row, so a layout without gaps has one dimension. */
#ifndef ORR_BASE_MPI_LAYOUT_H
#define ORR_BASE_MPI_LAYOUT_H

#include <mpi.h>
#include <stddef.h>

struct orr_process;

#define ORR_LAYOUT_MAXDIM 8

struct orr_layout {
	size_t size;       /* bytes without gaps */
	MPI_Datatype type; /* of the program; MPI_DATATYPE_NULL: the rows below */
	unsigned ndim;
	size_t n[ORR_LAYOUT_MAXDIM];      /* n[0]: bytes of a row; n[i]: how many of the i-1th */
	size_t stride[ORR_LAYOUT_MAXDIM]; /* bytes from one to the next, i >= 1 */
};

/* One row of that many bytes. Returns l. */
static inline struct orr_layout *orr_layout_row(struct orr_layout *l, size_t bytes)
{
	l->size = l->n[0] = bytes;
	l->type = MPI_DATATYPE_NULL;
	l->ndim = 1;
	return l;
}

/* The layout so far n times, the beginnings `stride` bytes apart. There is room for one more
 * dimension. */
static inline void orr_layout_repeat(struct orr_layout *l, size_t n, size_t stride)
{
	l->size *= n;
	if (n == 1)
		return;
	if (l->ndim == 1 && stride == l->n[0]) {
		l->n[0] *= n;
		return;
	}
	l->n[l->ndim] = n;
	l->stride[l->ndim++] = stride;
}

/* True if the payload is one row of bytes, or empty. */
static inline int orr_layout_is_row(const struct orr_layout *l)
{
	return !l->size || (l->type == MPI_DATATYPE_NULL && l->ndim == 1);
}

/* Keeps a layout beyond the call that brought it, with a datatype of its own. */
void orr_layout_keep(struct orr_layout *kept, const struct orr_layout *l);
void orr_layout_drop(struct orr_layout *kept);

/* Copies the payload at `at` to a row of bytes, and back. */
void orr_layout_gather(struct orr_process *proc, const struct orr_layout *l, const void *at,
		       void *row);
void orr_layout_scatter(struct orr_process *proc, const struct orr_layout *l, void *at,
			const void *row);
/* From one place to another without a buffer between. Both have the same size, and no datatype. */
void orr_layout_copy(struct orr_process *proc, const struct orr_layout *to, void *to_at,
		     const struct orr_layout *from, const void *from_at);

/* The datatype for *count (0 or 1 unless it is MPI_BYTE) items at the address of the payload,
 * however large it is. Returns whether the caller frees it after use. */
int orr_layout_type(const struct orr_layout *l, MPI_Datatype *type, int *count);

#endif
