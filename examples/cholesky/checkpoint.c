/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contents of checkpoints of the Cholesky example: all tiles of A, partly factored, and the
 * number of the next step. The rank after the owner keeps a copy.
 *
 * Invariant: that of ../checkpoint.h.
 */
#include "cholesky.h"

static void add_tile(struct problem *pb, int i, int j)
{
	int backup = tile_backup(pb, i, j),
	    part = tile_is_mine(pb, i, j) || backup == pb->grid.rank;

	checkpoint_add(&pb->saved, part ? pb->factor[tile_index(i, j)] : NULL, backup);
}

int checkpoint_begin(struct problem *pb)
{
	checkpoint_new(&pb->saved, &pb->now.step);
	for (int i = 0; i < pb->nt; i++)
		for (int j = 0; j <= i; j++)
			add_tile(pb, i, j);
	return checkpoint_restore(&pb->saved, &pb->now.step, pb->grid.rank == 0, "cholesky",
				  "step");
}
