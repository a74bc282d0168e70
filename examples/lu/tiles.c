/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tiles of the LU example: their registration, generation and release.
 *
 * Invariant: what a rank registers is what the insertion loops of factor.c and check.c name on it.
 */
#include "lu.h"

static starpu_data_handle_t *register_tiles(const struct problem *pb, starpu_mpi_tag_t tag)
{
	const struct grid *g = &pb->grid;
	starpu_data_handle_t *handles = tiles_alloc(g, tile_count(pb), "lu");

	for (int i = 0; i < pb->nt; i++)
		for (int j = 0; j < pb->nt; j++) {
			size_t at = tile_index(pb, i, j);

			if (row_is_mine(g, i) || column_is_mine(g, j))
				handles[at] = tile_register(g, i, j, pb->b, sizeof(double),
							    tag + (starpu_mpi_tag_t) at);
		}
	return handles;
}

/* Generating a tile concerns its owner only: there is nothing to insert elsewhere. */
static void generate_tiles(const struct problem *pb, starpu_data_handle_t *handles)
{
	for (int i = pb->grid.p; i < pb->nt; i += pb->grid.P)
		for (int j = pb->grid.q; j < pb->nt; j += pb->grid.Q)
			tile_generate(&pb->grid, handles[tile_index(pb, i, j)], &init_cl, i, j,
				      pb->nt * pb->b, "lu");
}

void tiles_register(struct problem *pb)
{
	pb->factor = register_tiles(pb, 0);
	generate_tiles(pb, pb->factor);
	if (!pb->check)
		return;
	pb->residual = register_tiles(pb, (starpu_mpi_tag_t) tile_count(pb));
	generate_tiles(pb, pb->residual);
}

void tiles_unregister(struct problem *pb)
{
	tiles_free(pb->factor, tile_count(pb));
	tiles_free(pb->residual, tile_count(pb));
	pb->factor = pb->residual = NULL;
}

void tiles_flush_step(struct problem *pb, int k)
{
	tile_flush(&pb->grid, pb->factor[tile_index(pb, k, k)]);
	for (int i = k + 1; i < pb->nt; i++) {
		tile_flush(&pb->grid, pb->factor[tile_index(pb, i, k)]);
		tile_flush(&pb->grid, pb->factor[tile_index(pb, k, i)]);
	}
}
