/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tiles of the Cholesky example: which of them this rank must know, their registration and their release.
 * Invariant: no tile has memory before a task writes or a message fills it (home node -1), and what a rank registers
 * is what the insertion loops of factor.c and check.c name on it, whether they prune or not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cholesky.h"

enum tile_use
{
	TILE_OWN = 1,		/* this rank stores it and runs the tasks that write it */
	TILE_READ = 2,		/* received: a task here reads it */
	TILE_TARGET = 4,	/* written by another rank from something that this rank sends */
};

/* Does this rank own a tile (x,j) with x > i? */
static int own_below(const struct problem *pb, int i, int j)
{
	return j % pb->grid.Q == pb->grid.q && next_in_stride(i + 1, pb->grid.p, pb->grid.P) < pb->nt;
}

/* Does this rank own a tile (i,x) with from <= x < to? */
static int own_between(const struct problem *pb, int i, int from, int to)
{
	return i % pb->grid.P == pb->grid.p && next_in_stride(from, pb->grid.q, pb->grid.Q) < to;
}

static int tile_use(const struct problem *pb, int i, int j)
{
	if (tile_is_mine(pb, i, j))
		return TILE_OWN;
	if (i == j)
		/* Read by trsm(x,j); written by syrk(j,k) from the tiles (j,k). */
		return (own_below(pb, j, j) ? TILE_READ : 0) | (own_between(pb, j, 0, j) ? TILE_TARGET : 0);
	/* Read by gemm(i,x,j), syrk(i,j) and gemm(x,i,j); written by gemm(i,j,k) and trsm(i,j). */
	return (own_between(pb, i, j + 1, i + 1) || own_below(pb, i, i) ? TILE_READ : 0)
		| (own_between(pb, i, 0, j) || own_between(pb, j, 0, j + 1) ? TILE_TARGET : 0);
}

/* Registers the tiles of one array of handles whose use is among `uses`; tags start at `tag`. */
static starpu_data_handle_t *register_tiles(const struct problem *pb, int uses, starpu_mpi_tag_t tag)
{
	starpu_data_handle_t *handles = calloc(tile_count(pb), sizeof(*handles));
	uint32_t b = (uint32_t)pb->b;

	if (!handles)
	{
		fprintf(stderr, "cholesky: no memory for the handles of %zu tiles; use fewer tiles (-nt)\n", tile_count(pb));
		MPI_Abort(pb->comm, 1);
		abort();
	}
	for (int i = 0; i < pb->nt; i++)
		for (int j = 0; j <= i; j++)
		{
			size_t at = tile_index(i, j);

			if (!(tile_use(pb, i, j) & uses))
				continue;
			starpu_matrix_data_register(&handles[at], -1, 0, b, b, b, pb->single ? sizeof(float) : sizeof(double));
			starpu_mpi_data_register(handles[at], tag + (starpu_mpi_tag_t)at, tile_owner(pb, i, j));
		}
	return handles;
}

static void insert_init(const struct problem *pb, starpu_data_handle_t handle, int i, int j)
{
	int n = pb->nt * pb->b;
	int ret = starpu_mpi_task_insert(pb->comm, &init_cl,
					 STARPU_VALUE, &i, sizeof(i),
					 STARPU_VALUE, &j, sizeof(j),
					 STARPU_VALUE, &n, sizeof(n),
					 STARPU_W, handle,
					 0);

	tiles_inserted(pb, ret, "init", i, j, 0);
}

/* Generating a tile concerns its owner only: there is nothing to communicate, hence nothing to insert elsewhere. */
static void generate_tiles(const struct problem *pb, starpu_data_handle_t *handles)
{
	for (int i = pb->grid.p; i < pb->nt; i += pb->grid.P)
		for (int j = pb->grid.q; j <= i; j += pb->grid.Q)
			insert_init(pb, handles[tile_index(i, j)], i, j);
}

void tiles_register(struct problem *pb)
{
	pb->factor = register_tiles(pb, TILE_OWN | TILE_READ | TILE_TARGET, 0);
	generate_tiles(pb, pb->factor);
	if (!pb->check)
		return;
	pb->residual = register_tiles(pb, TILE_OWN | TILE_TARGET, (starpu_mpi_tag_t)tile_count(pb));
	generate_tiles(pb, pb->residual);
}

static void unregister_tiles(const struct problem *pb, starpu_data_handle_t *handles)
{
	for (size_t at = 0; handles && at < tile_count(pb); at++)
		if (handles[at])
			starpu_data_unregister(handles[at]);
	free(handles);
}

void tiles_unregister(struct problem *pb)
{
	unregister_tiles(pb, pb->factor);
	unregister_tiles(pb, pb->residual);
	pb->factor = pb->residual = NULL;
}

void tiles_flush_panel(struct problem *pb, int k)
{
	for (int i = k; i < pb->nt; i++)
	{
		starpu_data_handle_t handle = pb->factor[tile_index(i, k)];

		if (handle)
			starpu_mpi_cache_flush(pb->comm, handle);
	}
}
