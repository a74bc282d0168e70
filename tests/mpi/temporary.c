/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporary data: NULL on the ranks that do not know it. */
#include "mpi_test.h"

static void cpu_sum(void *buffers[], void *arg)
{
	(void) arg;
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) = *(int *) STARPU_VARIABLE_GET_PTR(
							       buffers[1]) +
						       *(int *) STARPU_VARIABLE_GET_PTR(buffers[2]);
}

static struct starpu_codelet sum_cl = { .cpu_funcs = { cpu_sum },
					.nbuffers = 3,
					.modes = { STARPU_W, STARPU_R, STARPU_R },
					.name = "sum" };

int main(int argc, char **argv)
{
	starpu_data_handle_t result = NULL, temporary = NULL, value = NULL;
	int seven = 7;

	if (!begin(&argc, &argv, 2))
		return 77;
	if (rank == 0) {
		new_int(&temporary);
		starpu_mpi_data_register(temporary, -1, 0);
	}
	if (rank < 2) {
		new_int(&result);
		starpu_mpi_data_register(result, 1, 0);
		new_int(&value);
		starpu_mpi_data_register(value, 2, 1);
	}
	if (rank == 1)
		set_int(value, 35);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, temporary, STARPU_VALUE,
				  &seven, sizeof(seven), 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &sum_cl, STARPU_W, result, STARPU_R, temporary,
				  STARPU_R, value, 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 0) {
		CHECK(int_of(result) == 42, "result %d", int_of(result));
		starpu_data_unregister(temporary);
	}
	if (rank < 2) {
		starpu_data_unregister(result);
		starpu_data_unregister(value);
	}
	return end();
}
