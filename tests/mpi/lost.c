/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lost SECONDS [KERNEL_S]: messages in a ring for so long, by the clock of rank 0, which says "goes
 * on" after the first rounds and "done" at the end. Before that, each worker computes for KERNEL_S
 * seconds, and as long a callback keeps the thread that drives the engine. */
/* orr-test: driven by ../hosts/lost.sh */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "mpi_test.h"

enum { FIRST_ROUNDS = 3 };

static double kernel_s;

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec * 1e-9;
}

/* Computes, so that the system sees a thread that never sleeps. */
static void compute(double s)
{
	for (double end = now_s() + s; now_s() < end;)
		;
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	compute(kernel_s);
}

static void keep(void *arg)
{
	(void) arg;
	compute(kernel_s);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "long" };

static void be_busy(starpu_data_handle_t h)
{
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		OK(starpu_task_insert(&cl, 0));
	OK(starpu_mpi_isend_detached(h, (rank + 1) % size, 1, MPI_COMM_WORLD, keep, NULL));
	OK(starpu_mpi_recv(h, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(starpu_task_wait_for_all());
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	starpu_data_handle_t h;
	int goes_on = 1;

	kernel_s = argc > 2 ? atof(argv[2]) : 0;
	if (!begin(&argc, &argv, 2))
		return 77;
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	new_int(&h);
	set_int(h, 1);
	if (kernel_s > 0)
		be_busy(h);
	double end_s = now_s() + seconds;
	for (int round = 0; goes_on; round++) {
		if (rank == 0) {
			/* The first rounds wait for the ranks that still compute, which may take
			 * all the time. */
			set_int(h, round < FIRST_ROUNDS || now_s() < end_s);
			OK(starpu_mpi_send(h, next, 2, MPI_COMM_WORLD));
		}
		OK(starpu_mpi_recv(h, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		goes_on = int_of(h);
		if (rank)
			OK(starpu_mpi_send(h, next, 2, MPI_COMM_WORLD));
		if (rank == 0 && round == FIRST_ROUNDS) {
			puts("goes on");
			fflush(stdout);
		}
		usleep(2000);
	}
	starpu_data_unregister(h);
	if (rank == 0)
		puts("done");
	return end();
}
