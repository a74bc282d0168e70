/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tiles of the LU example: their registration, generation and release.
 * Invariant: no tile has memory before a task writes or a message fills it (home node -1), and what a rank registers is what
 * the insertion loops of factor.c and check.c name on it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lu.h"

static starpu_data_handle_t *register_tiles(const struct problem *pb, starpu_mpi_tag_t tag)
{
	size_t count = (size_t)pb->nt * (size_t)pb->nt;
	starpu_data_handle_t *handles = calloc(count, sizeof(*handles));
	uint32_t b = (uint32_t)pb->b;

	if (!handles)
	{
		fprintf(stderr, "lu: no memory for the handles of %zu tiles; use fewer tiles (-nt)\n", count);
		MPI_Abort(pb->comm, 1);
		abort();
	}
	for (int i = 0; i < pb->nt; i++)
		for (int j = 0; j < pb->nt; j++)
		{
			size_t at = tile_index(pb, i, j);

			if (!row_is_mine(pb, i) && !column_is_mine(pb, j))
				continue;
			starpu_matrix_data_register(&handles[at], -1, 0, b, b, b, sizeof(double));
			starpu_mpi_data_register(handles[at], tag + (starpu_mpi_tag_t)at, tile_owner(pb, i, j));
		}
	return handles;
}

/* Generating a tile concerns its owner only: there is nothing to insert elsewhere. */
static void generate_tiles(const struct problem *pb, starpu_data_handle_t *handles)
{
	int n = pb->nt * pb->b;

	for (int i = pb->grid.p; i < pb->nt; i += pb->grid.P)
		for (int j = pb->grid.q; j < pb->nt; j += pb->grid.Q)
		{
			int ret = starpu_mpi_task_insert(pb->comm, &init_cl,
							 STARPU_VALUE, &i, sizeof(i),
							 STARPU_VALUE, &j, sizeof(j),
							 STARPU_VALUE, &n, sizeof(n),
							 STARPU_W, handles[tile_index(pb, i, j)],
							 0);

			check_inserted(pb->comm, ret, "lu", "init", i, j, 0);
		}
}

void tiles_register(struct problem *pb)
{
	pb->factor = register_tiles(pb, 0);
	generate_tiles(pb, pb->factor);
	if (!pb->check)
		return;
	pb->residual = register_tiles(pb, (starpu_mpi_tag_t)pb->nt * pb->nt);
	generate_tiles(pb, pb->residual);
}

static void unregister_tiles(const struct problem *pb, starpu_data_handle_t *handles)
{
	for (size_t at = 0; handles && at < (size_t)pb->nt * (size_t)pb->nt; at++)
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

static void flush_tile(struct problem *pb, int i, int j)
{
	starpu_data_handle_t handle = pb->factor[tile_index(pb, i, j)];

	if (handle)
		starpu_mpi_cache_flush(pb->comm, handle);
}

void tiles_flush_step(struct problem *pb, int k)
{
	flush_tile(pb, k, k);
	for (int i = k + 1; i < pb->nt; i++)
	{
		flush_tile(pb, i, k);
		flush_tile(pb, k, i);
	}
}
