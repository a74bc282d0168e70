/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run that waits until the file of its argument is there (orr-test: driven by top.sh). Until then
 * each rank has completed 25 tasks, has one in a kernel, and four behind it; it has sent 4096 bytes
 * to the next rank, and waits for a message that nobody sends yet. With a second argument N, each
 * rank has N tasks of 50 ms instead, one after the other, and no file is waited for.
 *
 * Invariant: each rank reaches that state by itself, and stays in it until the file is there. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <starpu_mpi.h>

#define BYTES 4096

static volatile int go;

static void quick(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static void hold(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	while (!__atomic_load_n(&go, __ATOMIC_RELAXED))
		usleep(1000);
}

static void slow(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	usleep(50000);
}

static struct starpu_codelet slow_cl = {
	.cpu_funcs = { slow },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "slow",
};
static struct starpu_codelet quick_cl = {
	.cpu_funcs = { quick },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "quick",
};
static struct starpu_codelet hold_cl = {
	.cpu_funcs = { hold },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "hold",
};

static int run_slow(int n)
{
	starpu_data_handle_t shared;
	int number = 0;

	starpu_variable_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t) &number,
				      sizeof(number));
	for (int i = 0; i < n; i++)
		starpu_task_insert(&slow_cl, STARPU_RW, shared, 0);
	starpu_data_unregister(shared);
	starpu_mpi_shutdown();
	return 0;
}

int main(int argc, char **argv)
{
	static char there[BYTES], here[BYTES];
	int rank, size, number = 0;
	starpu_data_handle_t sent, got, shared;

	if (argc < 2 || starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, NULL))
		return 1;
	if (argc > 2)
		return run_slow(atoi(argv[2]));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	starpu_vector_data_register(&sent, STARPU_MAIN_RAM, (uintptr_t) there, BYTES, 1);
	starpu_vector_data_register(&got, STARPU_MAIN_RAM, (uintptr_t) here, BYTES, 1);
	starpu_variable_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t) &number,
				      sizeof(number));
	starpu_mpi_isend_detached(sent, next, 1, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_recv(got, previous, 1, MPI_COMM_WORLD, NULL);
	for (int i = 0; i < 25; i++)
		starpu_task_insert(&quick_cl, STARPU_RW, shared, 0);
	starpu_task_wait_for_all();
	starpu_mpi_irecv_detached(got, previous, 2, MPI_COMM_WORLD, NULL, NULL);
	starpu_task_insert(&hold_cl, STARPU_RW, shared, 0);
	for (int i = 0; i < 4; i++)
		starpu_task_insert(&quick_cl, STARPU_RW, shared, 0);
	/* In real time, too: virtual time would go by as fast as the processor can. */
	while (access(argv[1], F_OK)) {
		const struct timespec nap = { .tv_nsec = 1000000 };
		usleep(1000);
		syscall(SYS_nanosleep, &nap, NULL);
	}
	__atomic_store_n(&go, 1, __ATOMIC_RELAXED);
	starpu_mpi_isend_detached(sent, next, 2, MPI_COMM_WORLD, NULL, NULL);
	starpu_task_wait_for_all();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(sent);
	starpu_data_unregister(got);
	starpu_data_unregister(shared);
	starpu_mpi_shutdown();
	return 0;
}
