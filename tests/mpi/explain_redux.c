/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rounds in which all ranks contribute to one sum, which the first rank then uses, and sends on to
 * all: what tests/tools/explain_redux.sh has explained. Words: the microseconds that a task
 * "contribute", and one "combine", takes; the rounds; the tasks that contribute in a rank and
 * round; and, if the first rank is to wait for the use of each sum before it goes on, the
 * microseconds that "use" takes.
 *
 * Invariant: the sum of each round has one from each task that contributes. */
#include <stdlib.h>
#include <starpu_mpi.h>
#include "lib/test.h"

static double seconds[2] = { 400e-6, 50e-6 }, seconds_to_use;

static void contribute_one(void **buffers, void *arg)
{
	(void) arg;
	starpu_sleep(seconds[0]);
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[1]) += *(int *) STARPU_VARIABLE_GET_PTR(
		buffers[0]);
}

static void combine_two(void **buffers, void *arg)
{
	(void) arg;
	starpu_sleep(seconds[1]);
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) += *(int *) STARPU_VARIABLE_GET_PTR(
		buffers[1]);
}

static void clear_one(void **buffers, void *arg)
{
	(void) arg;
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static void use_one(void **buffers, void *arg)
{
	int expected = (int) (intptr_t) arg;

	starpu_sleep(seconds_to_use);
	CHECK_IS(*(int *) STARPU_VARIABLE_GET_PTR(buffers[1]), expected);
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) = 1;
}

static struct starpu_codelet contribute = { .cpu_funcs = { contribute_one },
					    .nbuffers = 2,
					    .modes = { STARPU_R, STARPU_REDUX },
					    .name = "contribute" };
static struct starpu_codelet combine = { .cpu_funcs = { combine_two },
					 .nbuffers = 2,
					 .modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
					 .name = "combine" };
static struct starpu_codelet clear = {
	.cpu_funcs = { clear_one }, .nbuffers = 1, .modes = { STARPU_W }, .name = "clear"
};
static struct starpu_codelet use = {
	.cpu_funcs = { use_one }, .nbuffers = 2, .modes = { STARPU_W, STARPU_R }, .name = "use"
};

int main(int argc, char **argv)
{
	int rank, size, one = 1, sum = 0;
	starpu_data_handle_t value, total;

	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	for (int i = 1; i < 3 && i < argc; i++)
		seconds[i - 1] = 1e-6 * atof(argv[i]);
	int rounds = argc > 3 ? atoi(argv[3]) : 10, tasks = argc > 4 ? atoi(argv[4]) : 4;
	int waits = argc > 5 && rank == 0;
	seconds_to_use = argc > 5 ? 1e-6 * atof(argv[5]) : 0;

	starpu_variable_data_register(&value, rank ? -1 : STARPU_MAIN_RAM,
				      rank ? 0 : (uintptr_t) &one, sizeof(one));
	starpu_variable_data_register(&total, rank ? -1 : STARPU_MAIN_RAM,
				      rank ? 0 : (uintptr_t) &sum, sizeof(sum));
	starpu_mpi_data_register(value, 0, 0);
	starpu_mpi_data_register(total, 1, 0);
	starpu_data_set_reduction_methods(total, &combine, &clear);
	for (int i = 0; i < rounds; i++) {
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &clear, STARPU_W, total, 0));
		for (int k = 0; k < tasks * size; k++)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute, STARPU_R, value,
						  STARPU_REDUX, total, STARPU_EXECUTE_ON_NODE,
						  k % size, 0));
		OK(starpu_mpi_redux_data(MPI_COMM_WORLD, total));
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &use, STARPU_W, value, STARPU_R, total,
					  STARPU_CL_ARGS_NFREE, (void *) (intptr_t) (tasks * size),
					  sizeof(int), 0));
		if (waits)
			OK(starpu_task_wait_for_all());
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	starpu_data_unregister(value);
	starpu_data_unregister(total);
	starpu_mpi_shutdown();
	return 0;
}
