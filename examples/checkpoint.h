/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of the examples that save checkpoints (chapter 14.22 of the handbook) and go on from the
 * last one. The program says which data are saved, and which rank keeps a copy of each.
 *
 * Invariant: all ranks have the same template; where a rank has nothing to do with a datum, its
 * entry holds NULL.
 */
#ifndef EXAMPLES_CHECKPOINT_H
#define EXAMPLES_CHECKPOINT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

/* Ends the program when a call failed. */
static inline void checkpoint_must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "%s failed: %s\n", what, strerror(-ret));
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

/* The rank that keeps a copy of what each rank has. */
static inline int checkpoint_next_rank(int rank)
{
	int size;

	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	return (rank + 1) % size;
}

/* A new template with the number of the next step, which each rank has. */
static inline void checkpoint_new(starpu_mpi_checkpoint_template_t *saved, int *step)
{
	checkpoint_must(starpu_mpi_checkpoint_init(), "starpu_mpi_checkpoint_init");
	checkpoint_must(starpu_mpi_checkpoint_template_create(saved, 1, 0), "the template");
	checkpoint_must(starpu_mpi_checkpoint_template_add_entry(
				saved, STARPU_VALUE, step, sizeof(*step), (starpu_mpi_tag_t) 0,
				checkpoint_next_rank),
			"an entry of the checkpoint");
}

/* Adds a datum, NULL where this rank has nothing to do with it; `backup` keeps a copy. */
static inline void checkpoint_add(starpu_mpi_checkpoint_template_t *saved,
				  starpu_data_handle_t handle, int backup)
{
	checkpoint_must(starpu_mpi_checkpoint_template_add_entry(saved, STARPU_R, handle, backup),
			"an entry of the checkpoint");
}

/* All is named: takes it back from the last checkpoint of a run that was lost. Returns whether
 * there was one; `first` says so: program, and what is counted. */
static inline int checkpoint_restore(starpu_mpi_checkpoint_template_t *saved, const int *step,
				     int first, const char *program, const char *counted)
{
	int restored;

	checkpoint_must(starpu_mpi_checkpoint_template_freeze(saved), "the template");
	restored = orrery_mpi_restore(*saved);
	checkpoint_must(restored < 0 ? restored : 0, "orrery_mpi_restore");
	if (restored && first)
		printf("%s: goes on from checkpoint %d, %s %d\n", program, restored, counted,
		       *step);
	return restored;
}

/* A checkpoint before the next step. */
static inline void checkpoint_submit(starpu_mpi_checkpoint_template_t saved)
{
	checkpoint_must(starpu_mpi_checkpoint_template_submit(saved, 0), "a checkpoint");
}

static inline void checkpoint_end(void)
{
	checkpoint_must(starpu_mpi_checkpoint_shutdown(), "starpu_mpi_checkpoint_shutdown");
}

#endif /* EXAMPLES_CHECKPOINT_H */
