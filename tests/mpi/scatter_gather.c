/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scatter from a root to the owners, tasks there, gather back; one callback per collective and
 * rank. */
#include "mpi_test.h"

static int scattered, arrived, given, gathered;

static void count(void *arg)
{
	__atomic_add_fetch((int *) arg, 1, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv)
{
	enum { N = 10 };
	starpu_data_handle_t h[N];
	int values[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	int root = size - 1;
	for (int i = 0; i < N; i++) {
		h[i] = NULL;
		values[i] = 10 * i;
		if (rank == root)
			starpu_variable_data_register(&h[i], STARPU_MAIN_RAM,
						      (uintptr_t) &values[i], sizeof(int));
		else if (i % size == rank)
			new_int(&h[i]);
		if (h[i])
			starpu_mpi_data_register(h[i], i, i % size);
	}
	OK(starpu_mpi_scatter_detached(h, N, root, MPI_COMM_WORLD, count, &scattered, count,
				       &arrived));
	for (int i = 0; i < N; i++)
		if (h[i] && starpu_mpi_data_get_rank(h[i]) == rank)
			OK(starpu_task_insert(&increment_cl, STARPU_RW, h[i], 0));
	OK(starpu_mpi_gather_detached(h, N, root, MPI_COMM_WORLD, count, &given, count, &gathered));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK(scattered == (rank == root), "scatter: %d callbacks of the sender", scattered);
	CHECK(arrived == (rank != root), "scatter: %d callbacks of the receiver", arrived);
	CHECK(given == (rank != root), "gather: %d callbacks of the sender", given);
	CHECK(gathered == (rank == root), "gather: %d callbacks of the receiver", gathered);
	for (int i = 0; i < N; i++) {
		if (h[i])
			starpu_data_unregister(h[i]);
		if (rank == root)
			CHECK(values[i] == 10 * i + 1, "value %d is %d", i, values[i]);
	}
	return end();
}
