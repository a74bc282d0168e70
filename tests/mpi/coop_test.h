/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One value for all ranks, and how many of them each rank sends it to. Same text in both worlds. */
#ifndef COOP_TEST_H
#define COOP_TEST_H

#include "mpi_test.h"

/* How many ranks this one sends to when `root` gives all the others an int, counted by messages.
 * The value is written only after all sends were submitted. */
static int receivers(int root)
{
	starpu_data_handle_t h, *count = malloc((size_t) size * sizeof(*count));
	size_t *bytes = malloc((size_t) size * sizeof(*bytes)),
	       *before = malloc((size_t) size * sizeof(*bytes));
	int n = 0, seed = 5;

	new_int(&h);
	starpu_mpi_data_register(h, 7, root);
	starpu_mpi_comm_stats_retrieve(before);
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	if (rank == root)
		OK(starpu_data_acquire(h, STARPU_W));
	for (int i = 0; i < size; i++) {
		new_int(&count[i]);
		starpu_mpi_data_register(count[i], 100 + i, i);
		if (i == rank)
			set_int(count[i], 0);
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, count[i], STARPU_R,
					  h, 0));
	}
	if (rank == root) {
		*(int *) starpu_data_get_local_ptr(h) = seed;
		starpu_data_release(h);
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK_IS(int_of(count[rank]), seed);
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	starpu_mpi_comm_stats_retrieve(bytes);
	for (int i = 0; i < size; i++) {
		n += bytes[i] > before[i];
		starpu_data_unregister(count[i]);
	}
	starpu_data_unregister(h);
	free(before);
	free(bytes);
	free(count);
	return n;
}

#endif
