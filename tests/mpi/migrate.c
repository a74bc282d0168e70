/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Migration: values and owners move around and back; tasks follow. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	enum { N = 6 };
	starpu_data_handle_t h[N];
	int values[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	for (int i = 0; i < N; i++) {
		values[i] = i;
		if (i % size == rank)
			starpu_variable_data_register(&h[i], STARPU_MAIN_RAM,
						      (uintptr_t) &values[i], sizeof(int));
		else
			new_int(&h[i]);
		starpu_mpi_data_register(h[i], i, i % size);
	}
	for (int step = 1; step <= 2 * size; step++)
		for (int i = 0; i < N; i++) {
			int owner = (i + step) % size;
			starpu_mpi_data_migrate(MPI_COMM_WORLD, h[i], owner);
			CHECK(starpu_mpi_data_get_rank(h[i]) == owner, "owner");
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, h[i],
						  0));
		}
	for (int i = 0; i < N; i++)
		OK(starpu_mpi_get_data_on_node(MPI_COMM_WORLD, h[i], 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 0)
		for (int i = 0; i < N; i++)
			CHECK(int_of(h[i]) == i + 2 * size, "copy of %d is %d", i, int_of(h[i]));
	for (int i = 0; i < N; i++) {
		starpu_mpi_data_migrate(MPI_COMM_WORLD, h[i], i % size);
		starpu_data_unregister(h[i]);
		if (i % size == rank)
			CHECK(values[i] == i + 2 * size, "data %d is %d", i, values[i]);
	}
	return end();
}
