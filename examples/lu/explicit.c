/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The factorisation with explicit messages (--explicit): a rank submits its own tasks only, and the
 * sends and receives of the tiles between them, as a program does that brings its own messages.
 * factor.c says the same with starpu_mpi_task_insert(), which finds the messages.
 *
 * Invariant: a rank receives a tile at most once, exactly when it updates a tile with it, and gives
 * its copy back after the step; sender and receiver come to that by the same rule, needs().
 */
#include "lu.h"

/* True if a process of row (column) `at` of the grid's `lines` has tiles that step k updates. */
static int needs(const struct problem *pb, int k, int at, int lines)
{
	return next_in_stride(k + 1, at, lines) < pb->nt;
}

/* Tile (i,j) of step k goes from its owner to the others of its row of processes, or of its column.
 */
static void share(struct problem *pb, int i, int j, int k, int along_row)
{
	const struct grid *g = &pb->grid;
	starpu_data_handle_t tile = pb->factor[tile_index(pb, i, j)];
	starpu_mpi_tag_t tag = (starpu_mpi_tag_t) tile_index(pb, i, j);
	int owner = tile_owner(g, i, j), lines = along_row ? g->Q : g->P;

	for (int at = 0; at < lines; at++) {
		int peer = along_row ? tile_owner(g, i, at) : tile_owner(g, at, j);

		if (peer == owner || !needs(pb, k, at, lines))
			continue;
		if (g->rank == owner)
			starpu_mpi_isend_detached_prio(tile, peer, tag, pb->nt - k, g->comm, NULL,
						       NULL);
		else if (g->rank == peer)
			starpu_mpi_irecv_detached(tile, owner, tag, g->comm, NULL, NULL);
	}
}

static void share_if(struct problem *pb, int mine, int i, int j, int k, int along_row)
{
	if (mine)
		share(pb, i, j, k, along_row);
}

static int tile_is_mine(const struct problem *pb, int i, int j)
{
	return tile_owner(&pb->grid, i, j) == pb->grid.rank;
}

static void submit_getrf(struct problem *pb, int k)
{
	int ret;

	if (!tile_is_mine(pb, k, k))
		return;
	ret = starpu_task_insert(&getrf_cl, STARPU_VALUE, &k, sizeof(k), STARPU_RW,
				 pb->factor[tile_index(pb, k, k)], STARPU_PRIORITY,
				 getrf_priority(pb, k), 0);
	check_inserted(pb->grid.comm, ret, "lu", "getrf", k, k, k);
}

static void submit_trsm(struct problem *pb, int i, int j, int k)
{
	int ret;

	if (!tile_is_mine(pb, i, j))
		return;
	ret = starpu_task_insert(i == k ? &trsm_row_cl : &trsm_column_cl, STARPU_R,
				 pb->factor[tile_index(pb, k, k)], STARPU_RW,
				 pb->factor[tile_index(pb, i, j)], STARPU_PRIORITY,
				 chain_priority(pb, i, j, k), 0);
	check_inserted(pb->grid.comm, ret, "lu", "trsm", i, j, k);
}

static void submit_gemm(struct problem *pb, int i, int j, int k)
{
	int ret = starpu_task_insert(&gemm_cl, STARPU_R, pb->factor[tile_index(pb, i, k)], STARPU_R,
				     pb->factor[tile_index(pb, k, j)], STARPU_RW,
				     pb->factor[tile_index(pb, i, j)], STARPU_PRIORITY,
				     chain_priority(pb, i, j, k), 0);

	check_inserted(pb->grid.comm, ret, "lu", "gemm", i, j, k);
}

/* The pivot goes along the row and the column of its owner, the tile (x,k) along its row, the tile
 * (k,x) along its column. */
static void submit_panels(struct problem *pb, int k)
{
	int row = row_is_mine(&pb->grid, k), column = column_is_mine(&pb->grid, k);

	submit_getrf(pb, k);
	share_if(pb, row, k, k, k, 1);
	share_if(pb, column, k, k, k, 0);
	for (int x = k + 1; x < pb->nt; x++) {
		submit_trsm(pb, k, x, k);
		submit_trsm(pb, x, k, k);
		share_if(pb, column_is_mine(&pb->grid, x), k, x, k, 0);
		share_if(pb, row_is_mine(&pb->grid, x), x, k, k, 1);
	}
}

/* The copy of a foreign tile that this rank got is not needed any more; its memory is free once the
 * tasks that read it are done. */
static void forget(struct problem *pb, int i, int j)
{
	starpu_data_handle_t tile = pb->factor[tile_index(pb, i, j)];

	if (tile && !tile_is_mine(pb, i, j))
		starpu_data_invalidate_submit(tile);
}

void factor_explicitly(struct problem *pb)
{
	const struct grid *g = &pb->grid;

	for (int k = 0; k < pb->nt; k++) {
		submit_panels(pb, k);
		for (int i = next_in_stride(k + 1, g->p, g->P); i < pb->nt; i += g->P)
			for (int j = next_in_stride(k + 1, g->q, g->Q); j < pb->nt; j += g->Q)
				submit_gemm(pb, i, j, k);
		forget(pb, k, k);
		for (int x = k + 1; x < pb->nt; x++) {
			forget(pb, x, k);
			forget(pb, k, x);
		}
		disk_settle(pb);
	}
}
