/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks of the stencil example: their registration, and the tasks that update them.
 *
 * Invariant: a rank knows its own blocks and those next to them, and inserts the updates of these:
 * they are the tasks that it runs and those that read edges of its blocks. Of another rank's block
 * the cells are known as the place where a task runs, never received.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stencil.h"

static int is_mine(const struct problem *pb, int i, int j)
{
	return i >= pb->top && i < pb->bottom && j >= pb->left && j < pb->right;
}

/* Mine, or beside one of mine; i and j are indices of existing blocks. */
static int is_near(const struct problem *pb, int i, int j)
{
	int up = (i + pb->nx - 1) % pb->nx, down = (i + 1) % pb->nx;
	int left = (j + pb->ny - 1) % pb->ny, right = (j + 1) % pb->ny;

	return is_mine(pb, i, j) || is_mine(pb, up, j) || is_mine(pb, down, j) ||
	       is_mine(pb, i, left) || is_mine(pb, i, right);
}

/* ---- windows ---- */

static void window_open(struct window *w, const struct problem *pb, int top, int bottom, int left,
			int right)
{
	w->top = top;
	w->left = left;
	w->rows = bottom - top < pb->nx ? bottom - top : pb->nx;
	w->columns = right - left < pb->ny ? right - left : pb->ny;
	w->blocks = calloc((size_t) w->rows * (size_t) w->columns, sizeof(*w->blocks));
	if (w->blocks)
		return;
	fprintf(stderr, "stencil: no memory for %d * %d blocks; use fewer of them (-nx, -ny)\n",
		w->rows, w->columns);
	MPI_Abort(pb->grid.comm, 1);
	abort();
}

/* The block, or NULL outside of the window. */
static struct block *window_at(const struct window *w, const struct problem *pb, int i, int j)
{
	int row = (i - w->top + 2 * pb->nx) % pb->nx, column = (j - w->left + 2 * pb->ny) % pb->ny;

	if (!w->blocks || row >= w->rows || column >= w->columns)
		return NULL;
	return &w->blocks[(size_t) row * (size_t) w->columns + (size_t) column];
}

/* The place in the plate of a place in the window. */
static struct place window_place(const struct window *w, const struct problem *pb, int row,
				 int column)
{
	return (struct place){ (w->top + row + pb->nx) % pb->nx,
			       (w->left + column + pb->ny) % pb->ny };
}

const struct block *block_at(const struct problem *pb, int i, int j)
{
	static const struct block unknown;
	const struct block *k = window_at(&pb->near, pb, i, j);

	if (!k || !k->cells)
		k = window_at(&pb->kept, pb, i, j);
	return k ? k : &unknown;
}

/* ---- blocks ---- */

static void register_block(const struct problem *pb, struct block *k, int i, int j)
{
	starpu_mpi_tag_t tag = 5 * ((starpu_mpi_tag_t) i * pb->ny + j);
	int owner = block_owner(pb, i, j);
	uint32_t b = (uint32_t) pb->b;

	starpu_block_data_register(&k->cells, -1, 0, b, b * b, b, b, 2, sizeof(double));
	starpu_mpi_data_register(k->cells, tag, owner);
	for (int parity = 0; parity < 2; parity++) {
		starpu_vector_data_register(&k->rows[parity], -1, 0, 2 * b, sizeof(double));
		starpu_mpi_data_register(k->rows[parity], tag + 1 + parity, owner);
		starpu_vector_data_register(&k->columns[parity], -1, 0, 2 * b, sizeof(double));
		starpu_mpi_data_register(k->columns[parity], tag + 3 + parity, owner);
	}
}

static void generate_block(struct problem *pb, int i, int j)
{
	const struct block *k = block_at(pb, i, j);
	int ret = starpu_mpi_task_insert(pb->grid.comm, &init_cl, STARPU_VALUE, &i, sizeof(i),
					 STARPU_VALUE, &j, sizeof(j), STARPU_W, k->cells, STARPU_W,
					 k->rows[0], STARPU_W, k->columns[0], 0);

	check_inserted(pb->grid.comm, ret, "stencil", "init", i, j, 0);
}

/* The corners of the window are next to no block of this rank. */
static void register_near(struct problem *pb)
{
	struct window *w = &pb->near;

	window_open(w, pb, pb->top - 1, pb->bottom + 1, pb->left - 1, pb->right + 1);
	pb->known = malloc(((size_t) w->rows * (size_t) w->columns + 1) * sizeof(*pb->known));
	if (!pb->known) {
		fprintf(stderr, "stencil: no memory for the list of blocks\n");
		MPI_Abort(pb->grid.comm, 1);
		abort();
	}
	for (int row = 0; row < w->rows; row++)
		for (int column = 0; column < w->columns; column++) {
			struct place at = window_place(w, pb, row, column);

			if (!is_near(pb, at.i, at.j))
				continue;
			register_block(pb, window_at(w, pb, at.i, at.j), at.i, at.j);
			pb->known[pb->nknown++] = at;
		}
}

/* The blocks of the rank before this one. */
static void register_kept(struct problem *pb)
{
	const struct grid *g = &pb->grid;
	struct window *w = &pb->kept;
	int before = (g->rank + g->size - 1) % g->size, p = before / g->Q, q = before % g->Q;

	window_open(w, pb, part_start(p, pb->nx, g->P), part_start(p + 1, pb->nx, g->P),
		    part_start(q, pb->ny, g->Q), part_start(q + 1, pb->ny, g->Q));
	for (int row = 0; row < w->rows; row++)
		for (int column = 0; column < w->columns; column++) {
			struct place at = window_place(w, pb, row, column);

			if (!is_near(pb, at.i, at.j))
				register_block(pb, window_at(w, pb, at.i, at.j), at.i, at.j);
		}
}

void blocks_register(struct problem *pb)
{
	register_near(pb);
	if (pb->period)
		register_kept(pb);
}

void blocks_generate(struct problem *pb)
{
	for (int i = pb->top; i < pb->bottom; i++)
		for (int j = pb->left; j < pb->right; j++)
			generate_block(pb, i, j);
}

static void window_close(struct window *w)
{
	size_t n = w->blocks ? (size_t) w->rows * (size_t) w->columns : 0;

	for (size_t at = 0; at < n; at++) {
		struct block *k = &w->blocks[at];

		if (!k->cells)
			continue;
		starpu_data_unregister(k->cells);
		for (int parity = 0; parity < 2; parity++) {
			starpu_data_unregister(k->rows[parity]);
			starpu_data_unregister(k->columns[parity]);
		}
	}
	free(w->blocks);
	w->blocks = NULL;
}

void blocks_unregister(struct problem *pb)
{
	window_close(&pb->near);
	window_close(&pb->kept);
	free(pb->known);
	pb->known = NULL;
}

/* Early iterations go first, so that no block runs far ahead of its neighbours. */
static void insert_update(struct problem *pb, int i, int j, int t)
{
	const struct block *k = block_at(pb, i, j);
	int now = t % 2, next = !now;
	double b = pb->b;
	int ret = starpu_mpi_task_insert(
		pb->grid.comm, &update_cl, STARPU_VALUE, &t, sizeof(t), STARPU_RW, k->cells,
		STARPU_R, block_at(pb, i - 1, j)->rows[now], STARPU_R,
		block_at(pb, i + 1, j)->rows[now], STARPU_R, block_at(pb, i, j - 1)->columns[now],
		STARPU_R, block_at(pb, i, j + 1)->columns[now], STARPU_W, k->rows[next], STARPU_W,
		k->columns[next], STARPU_PRIORITY, pb->niter - t, STARPU_FLOPS, 6 * b * b, 0);

	check_inserted(pb->grid.comm, ret, "stencil", "update", i, j, t);
}

void blocks_iterate(struct problem *pb)
{
	for (int first = pb->t; pb->t < pb->niter; pb->t++) {
		if (pb->period && pb->t > first && pb->t % pb->period == 0)
			checkpoint_submit(pb->saved);
		for (size_t at = 0; at < pb->nknown; at++)
			insert_update(pb, pb->known[at].i, pb->known[at].j, pb->t);
	}
}
