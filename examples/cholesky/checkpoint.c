/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints of the Cholesky example (chapter 14.22 of the handbook): all tiles of A, partly
 * factored, and the number of the next step. The rank after the owner keeps a copy.
 *
 * Invariant: all ranks have the same template; where a rank neither owns nor backs up a tile, its
 * entry holds NULL.
 */
#include "cholesky.h"

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "cholesky: %s failed: %s\n", what, strerror(-ret));
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

/* Of the number of the step, which each rank has. */
static int next_rank(int rank)
{
	int size;

	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	return (rank + 1) % size;
}

static void add_tile(struct problem *pb, int i, int j)
{
	int backup = tile_backup(pb, i, j),
	    part = tile_is_mine(pb, i, j) || backup == pb->grid.rank;

	must(starpu_mpi_checkpoint_template_add_entry(
		     &pb->saved, STARPU_R, part ? pb->factor[tile_index(i, j)] : NULL, backup),
	     "an entry of the checkpoint");
}

int checkpoint_begin(struct problem *pb)
{
	int restored;

	must(starpu_mpi_checkpoint_init(), "starpu_mpi_checkpoint_init");
	must(starpu_mpi_checkpoint_template_create(&pb->saved, 1, 0), "the template");
	must(starpu_mpi_checkpoint_template_add_entry(&pb->saved, STARPU_VALUE, &pb->now.step,
						      sizeof(pb->now.step), (starpu_mpi_tag_t) 0,
						      next_rank),
	     "an entry of the checkpoint");
	for (int i = 0; i < pb->nt; i++)
		for (int j = 0; j <= i; j++)
			add_tile(pb, i, j);
	must(starpu_mpi_checkpoint_template_freeze(&pb->saved), "the template");
	restored = orrery_mpi_restore(pb->saved);
	must(restored < 0 ? restored : 0, "orrery_mpi_restore");
	if (restored && pb->grid.rank == 0)
		printf("cholesky: goes on from checkpoint %d, step %d\n", restored, pb->now.step);
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
