/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies between data of different owners; the destination's owner executes. */
#include "mpi_test.h"

static void count(void *arg)
{
	++*(int *) arg;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t a, b, c;
	int eleven = 11, called = 0;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&a);
	new_int(&b);
	new_int(&c);
	starpu_mpi_data_register(a, 1, 0);
	starpu_mpi_data_register(b, 2, 1);
	starpu_mpi_data_register(c, 3, 1);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, a, STARPU_VALUE, &eleven,
				  sizeof(eleven), 0));
	OK(starpu_mpi_data_cpy(b, a, MPI_COMM_WORLD, 1, NULL, NULL));
	OK(starpu_mpi_data_cpy_priority(c, b, MPI_COMM_WORLD, 1, NULL, NULL, 3));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, c, 0));
	OK(starpu_mpi_data_cpy(a, c, MPI_COMM_WORLD, 0, NULL, NULL));
	OK(starpu_mpi_data_cpy(b, b, MPI_COMM_WORLD, 0, count, &called));
	CHECK(called == 1, "copy of a datum to itself: %d callbacks", called);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 0)
		CHECK(int_of(a) == 12, "a is %d", int_of(a));
	if (rank == 1)
		CHECK(int_of(b) == 11 && int_of(c) == 12, "b is %d, c is %d", int_of(b), int_of(c));
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_data_unregister(c);
	return end();
}
