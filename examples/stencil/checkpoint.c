/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints of the stencil (chapter 14.22 of the handbook): all blocks with their edges, and the
 * number of the next iteration. The rank after the owner keeps a copy.
 *
 * Invariant: all ranks have the same template; where a rank has nothing to do with a block, its
 * entries hold NULL.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stencil.h"

/* Of the number of the iteration, which each rank has. */
static int next_rank(int rank)
{
	int size;

	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	return (rank + 1) % size;
}

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "stencil: %s failed: %s\n", what, strerror(-ret));
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

static void add(struct problem *pb, starpu_data_handle_t handle, int backup)
{
	must(starpu_mpi_checkpoint_template_add_entry(&pb->saved, STARPU_R, handle, backup),
	     "an entry of the checkpoint");
}

int checkpoint_begin(struct problem *pb)
{
	int restored;

	must(starpu_mpi_checkpoint_init(), "starpu_mpi_checkpoint_init");
	must(starpu_mpi_checkpoint_template_create(&pb->saved, 1, 0), "the template");
	must(starpu_mpi_checkpoint_template_add_entry(&pb->saved, STARPU_VALUE, &pb->t,
						      sizeof(pb->t), (starpu_mpi_tag_t) 0,
						      next_rank),
	     "an entry of the checkpoint");
	for (int i = 0; i < pb->nx; i++)
		for (int j = 0; j < pb->ny; j++) {
			const struct block *k = block_at(pb, i, j);
			int backup = block_backup(pb, i, j);

			add(pb, k->cells, backup);
			for (int parity = 0; parity < 2; parity++) {
				add(pb, k->rows[parity], backup);
				add(pb, k->columns[parity], backup);
			}
		}
	must(starpu_mpi_checkpoint_template_freeze(&pb->saved), "the template");
	restored = orrery_mpi_restore(pb->saved);
	must(restored < 0 ? restored : 0, "orrery_mpi_restore");
	if (restored && pb->grid.rank == 0)
		printf("stencil: goes on from checkpoint %d, iteration %d\n", restored, pb->t);
	return restored;
}

void checkpoint_submit(struct problem *pb)
{
	must(starpu_mpi_checkpoint_template_submit(pb->saved, 0), "a checkpoint");
}

void checkpoint_end(struct problem *pb)
{
	(void) pb;
	must(starpu_mpi_checkpoint_shutdown(), "starpu_mpi_checkpoint_shutdown");
}
