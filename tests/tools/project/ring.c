/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes a number around all ranks by tasks; each adds one. Prints the sum, doubled. */
#include <stdio.h>
#include <starpu_mpi.h>
#include "part.h"

static MPI_Comm comm = MPI_COMM_WORLD;

static void increment(void *buffers[], void *arg)
{
	(void) arg;
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
}
static struct starpu_codelet cl = {
	.cpu_funcs = { increment }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "increment"
};

int main(int argc, char **argv)
{
	int rank, size, value = 0;
	starpu_data_handle_t h;
	if (starpu_mpi_init_conf(&argc, &argv, 1, comm, NULL))
		return 1;
	starpu_mpi_comm_rank(comm, &rank);
	starpu_mpi_comm_size(comm, &size);
	starpu_variable_data_register(&h, rank ? -1 : STARPU_MAIN_RAM, (uintptr_t) &value,
				      sizeof(value));
	starpu_mpi_data_register(h, 1, 0);
	for (int i = 0; i < size; i++)
		starpu_mpi_task_insert(comm, &cl, STARPU_RW, h, STARPU_EXECUTE_ON_NODE, i, 0);
	starpu_task_wait_for_all();
	starpu_data_unregister(h);
	if (rank == 0)
		printf("ring %d\n", twice(value));
	starpu_mpi_shutdown();
	return rank == 0 && value != size;
}
