/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rank 1 has to do beside its kernels, when it has one core and when it has more (cores.sh):
 * it executes a chain of tasks while a large datum comes from rank 0, TIMES times. Prints how long
 * the chain takes, and when the first message was noticed.
 *
 *      cores KERNEL_US NTASKS BYTES TIMES WAIT_US [OTHER_US]   rank 0 sends after a task of
 *        WAIT_US, and executes another meanwhile */
#include "../mpi/mpi_test.h"

static double kernel_us, wait_us, other_us, start, noticed = -1;

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}
static double chain_time(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return kernel_us;
}
static double wait_time(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return wait_us;
}
static double other_time(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return other_us;
}
static struct starpu_perfmodel other_model = { .type = STARPU_COMMON, .cost_function = other_time };
static struct starpu_perfmodel chain_model = { .type = STARPU_COMMON, .cost_function = chain_time };
static struct starpu_perfmodel wait_model = { .type = STARPU_COMMON, .cost_function = wait_time };
static struct starpu_codelet chain = { .cpu_funcs = { nothing },
				       .nbuffers = 1,
				       .modes = { STARPU_RW },
				       .model = &chain_model,
				       .name = "chain" };
static struct starpu_codelet make = { .cpu_funcs = { nothing },
				      .nbuffers = 1,
				      .modes = { STARPU_W },
				      .model = &wait_model,
				      .name = "make" };

static struct starpu_codelet other = { .cpu_funcs = { nothing },
				       .model = &other_model,
				       .name = "other" };

static void notice(void *arg)
{
	(void) arg;
	if (noticed < 0)
		noticed = starpu_timing_now() - start;
}

static void send(starpu_data_handle_t h, int times)
{
	for (int i = 0; i < times; i++) {
		OK(starpu_task_insert(&make, STARPU_W, h, 0));
		OK(starpu_mpi_isend_detached(h, 1, i, MPI_COMM_WORLD, NULL, NULL));
	}
	if (other_us > 0)
		OK(starpu_task_insert(&other, 0));
}

static void compute(starpu_data_handle_t h, int times, int ntasks)
{
	starpu_data_handle_t own;
	int value = 0;

	starpu_variable_data_register(&own, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	for (int i = 0; i < times; i++)
		OK(starpu_mpi_irecv_detached(h, 0, i, MPI_COMM_WORLD, notice, NULL));
	for (int i = 0; i < ntasks; i++)
		OK(starpu_task_insert(&chain, STARPU_RW, own, 0));
	OK(starpu_data_acquire(own, STARPU_R));
	printf("chain %.0f us\n", starpu_timing_now() - start);
	starpu_data_release(own);
	starpu_data_unregister(own);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (argc < 6 || argc > 7 || !begin(&argc, &argv, 2))
		return 77;
	kernel_us = atof(argv[1]);
	wait_us = atof(argv[5]);
	other_us = argc > 6 ? atof(argv[6]) : 0;
	starpu_vector_data_register(&h, -1, 0, (uint32_t) atoi(argv[3]), 1);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start = starpu_timing_now();
	if (rank == 0)
		send(h, atoi(argv[4]));
	else if (rank == 1)
		compute(h, atoi(argv[4]), atoi(argv[2]));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 1)
		printf("noticed %.0f us\n", noticed);
	starpu_data_unregister(h);
	return end();
}
