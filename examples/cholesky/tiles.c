/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tiles of the Cholesky example: which of them this rank must know, their registration and
 * their release.
 *
 * Invariant: what a rank registers is what the insertion loops of factor.c and check.c name on it,
 * whether they prune or not.
 */
#include "cholesky.h"

enum tile_use {
	TILE_OWN = 1,    /* this rank stores it and runs the tasks that write it */
	TILE_READ = 2,   /* received: a task here reads it */
	TILE_TARGET = 4, /* written by another rank from something that this rank sends */
	TILE_BACKUP = 8, /* this rank keeps a copy in checkpoints */
};

/* Does this rank own a tile (x,j) with x > i? */
static int own_below(const struct problem *pb, int i, int j)
{
	return column_is_mine(&pb->grid, j) &&
	       next_in_stride(i + 1, pb->grid.p, pb->grid.P) < pb->nt;
}

/* Does this rank own a tile (i,x) with from <= x < to? */
static int own_between(const struct problem *pb, int i, int from, int to)
{
	return row_is_mine(&pb->grid, i) && next_in_stride(from, pb->grid.q, pb->grid.Q) < to;
}

static int tile_use(const struct problem *pb, int i, int j)
{
	if (tile_is_mine(pb, i, j))
		return TILE_OWN;
	if (i == j)
		/* Read by trsm(x,j); written by syrk(j,k) from the tiles (j,k). */
		return (own_below(pb, j, j) ? TILE_READ : 0) |
		       (own_between(pb, j, 0, j) ? TILE_TARGET : 0);
	/* Read by gemm(i,x,j), syrk(i,j) and gemm(x,i,j); written by gemm(i,j,k) and trsm(i,j). */
	return (own_between(pb, i, j + 1, i + 1) || own_below(pb, i, i) ? TILE_READ : 0) |
	       (own_between(pb, i, 0, j) || own_between(pb, j, 0, j + 1) ? TILE_TARGET : 0);
}

/* Registers the tiles of one array of handles whose use is among `uses`; tags start at `tag`. */
static starpu_data_handle_t *register_tiles(const struct problem *pb, int uses,
					    starpu_mpi_tag_t tag)
{
	starpu_data_handle_t *handles = tiles_alloc(&pb->grid, tile_count(pb), "cholesky");
	size_t size = pb->single ? sizeof(float) : sizeof(double);

	for (int i = 0; i < pb->nt; i++)
		for (int j = 0; j <= i; j++) {
			size_t at = tile_index(i, j);

			int use = tile_use(pb, i, j);

			if (tile_backup(pb, i, j) == pb->grid.rank)
				use |= TILE_BACKUP;
			if (use & uses || pb->rule)
				handles[at] = tile_register(&pb->grid, i, j, pb->b, size,
							    tag + (starpu_mpi_tag_t) at);
			if (pb->rule)
				phases_follow(pb, handles[at], i, j);
		}
	return handles;
}

/* Generating a tile concerns its owner only: there is nothing to communicate, hence nothing to
 * insert elsewhere. With --sizes and --elastic, all ranks insert all. */
static void generate_tiles(const struct problem *pb, starpu_data_handle_t *handles)
{
	int all = pb->rule != NULL;

	for (int i = all ? 0 : pb->grid.p; i < pb->nt; i += all ? 1 : pb->grid.P)
		for (int j = all ? 0 : pb->grid.q; j <= i; j += all ? 1 : pb->grid.Q)
			tile_generate(&pb->grid, handles[tile_index(i, j)], &init_cl, i, j,
				      pb->nt * pb->b, "cholesky");
}

void tiles_register(struct problem *pb)
{
	int backup = pb->period ? TILE_BACKUP : 0;

	pb->factor = register_tiles(pb, TILE_OWN | TILE_READ | TILE_TARGET | backup, 0);
	if (!pb->check)
		return;
	pb->residual = register_tiles(pb, TILE_OWN | TILE_TARGET,
				      (starpu_mpi_tag_t) tile_count(pb));
	if (!pb->joined)
		generate_tiles(pb, pb->residual);
}

void tiles_generate(struct problem *pb)
{
	generate_tiles(pb, pb->factor);
}

void tiles_unregister(struct problem *pb)
{
	tiles_free(pb->factor, tile_count(pb));
	tiles_free(pb->residual, tile_count(pb));
	pb->factor = pb->residual = NULL;
}

void tiles_flush_panel(struct problem *pb, int k)
{
	for (int i = k; i < pb->nt; i++)
		tile_flush(&pb->grid, pb->factor[tile_index(i, k)]);
}
