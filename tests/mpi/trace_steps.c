/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A chain of tasks that goes through all ranks, ten on each: what tests/tools/trace.sh records.
 * With an argument, each process kills itself at the end.
 *
 * Invariant: each task but the first waits for the one before it, or for the message of the rank
 * before, because none begins before all are submitted on all ranks; the value counts them. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <starpu_mpi.h>
#include "lib/test.h"

#define STEPS 10

static void step(void **buffers, void *arg)
{
	(void) arg;
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
	starpu_sleep(0.0002);
}

static struct starpu_codelet cl = {
	.cpu_funcs = { step }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "chain"
};

int main(int argc, char **argv)
{
	int value = 0, rank, size;
	starpu_data_handle_t h;

	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	starpu_pause();
	if (rank > 0)
		OK(starpu_mpi_irecv_detached(h, rank - 1, 7, MPI_COMM_WORLD, NULL, NULL));
	for (int i = 0; i < STEPS; i++)
		OK(starpu_task_insert(&cl, STARPU_RW, h, 0));
	if (rank + 1 < size)
		OK(starpu_mpi_isend_detached(h, rank + 1, 7, MPI_COMM_WORLD, NULL, NULL));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	starpu_resume();
	starpu_data_unregister(h);
	CHECK_IS(value, (rank + 1) * STEPS);
	if (argc > 1)
		raise(SIGKILL);
	starpu_mpi_shutdown();
	return 0;
}
