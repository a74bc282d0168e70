/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contents of checkpoints of the stencil: all blocks with their edges, and the number of the
 * next iteration. The rank after the owner keeps a copy.
 *
 * Invariant: that of ../checkpoint.h.
 */
#include "stencil.h"

static void add_block(struct problem *pb, int i, int j)
{
	const struct block *k = block_at(pb, i, j);
	int backup = block_backup(pb, i, j);

	checkpoint_add(&pb->saved, k->cells, backup);
	for (int parity = 0; parity < 2; parity++) {
		checkpoint_add(&pb->saved, k->rows[parity], backup);
		checkpoint_add(&pb->saved, k->columns[parity], backup);
	}
}

int checkpoint_begin(struct problem *pb)
{
	checkpoint_new(&pb->saved, &pb->t);
	for (int i = 0; i < pb->nx; i++)
		for (int j = 0; j < pb->ny; j++)
			add_block(pb, i, j);
	return checkpoint_restore(&pb->saved, &pb->t, pb->grid.rank == 0, "stencil", "iteration");
}
