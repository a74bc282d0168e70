/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks of which bound.sh knows the lower bounds. Per start of the runtime: a datum goes round all
 * ranks LAPS times, with a task of 1 ms on each; meanwhile rank 1 has 20 tasks of 2 ms that depend
 * on nothing. `bound STARTS`: the runtime is started so often.
 *
 * Invariant: the datum ends with the number of tasks that it met. */
#include <starpu_mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define LAPS 3
#define TAG 7

static double one_ms(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) arch;
	(void) i;
	return 1000;
}
static double two_ms(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) arch;
	(void) i;
	return 2000;
}

static void count(void *buffers[], void *arg)
{
	(void) arg;
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
}
static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_perfmodel one_model = { .type = STARPU_PER_ARCH,
					     .arch_cost_function = one_ms };
static struct starpu_perfmodel two_model = { .type = STARPU_PER_ARCH,
					     .arch_cost_function = two_ms };
static struct starpu_codelet count_cl = { .cpu_funcs = { count },
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .model = &one_model,
					  .name = "count" };
static struct starpu_codelet nothing_cl = { .cpu_funcs = { nothing },
					    .model = &two_model,
					    .name = "nothing" };

static int go_round(int rank, int size)
{
	starpu_data_handle_t h;
	int value = 0, to;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	for (int lap = 0; lap < LAPS; lap++)
		for (int i = 0; i < size; i++) {
			to = (i + 1) % size;
			if (rank == i)
				starpu_task_insert(&count_cl, STARPU_RW, h, 0);
			if (rank == i)
				starpu_mpi_isend_detached(h, to, TAG, MPI_COMM_WORLD, NULL, NULL);
			if (rank == to)
				starpu_mpi_irecv_detached(h, i, TAG, MPI_COMM_WORLD, NULL, NULL);
		}
	for (int i = 0; i < 20 && rank == 1; i++)
		starpu_task_insert(&nothing_cl, 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(h);
	return rank != 0 || value == LAPS * size;
}

int main(int argc, char **argv)
{
	int starts = argc > 1 ? atoi(argv[1]) : 1, rank, size, ok = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	while (starts--) {
		if (starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL))
			return 1;
		ok &= go_round(rank, size);
		starpu_mpi_shutdown();
	}
	if (!ok)
		fprintf(stderr, "rank %d: the datum did not meet all tasks\n", rank);
	MPI_Finalize();
	return !ok;
}
