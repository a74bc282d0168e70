/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run of a ring: each rank receives a datum from the one before it and sends it on, blocking,
 * with nothing else under way. Prints the median time of a hop for each size. With the argument
 * "busy", one worker per rank computes all the while, and the time of its kernels is printed too.
 * latency.sh runs it many times: what counts is how much the medians of separate runs differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>

static int rank, size, over;
static double kernel_us;
static long nkernels;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static void hop(starpu_data_handle_t h, int first)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;

	if (first)
		starpu_mpi_send(h, next, 1, MPI_COMM_WORLD);
	starpu_mpi_recv(h, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!first)
		starpu_mpi_send(h, next, 1, MPI_COMM_WORLD);
}

static double measure(int bytes, int n)
{
	char *buf = calloc(1, (size_t) bytes);
	double *t = malloc((size_t) n * sizeof(*t));
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) buf, (uint32_t) bytes, 1);
	for (int i = -n / 10; i < n; i++) {
		double start = starpu_timing_now();
		hop(h, rank == 0);
		if (i >= 0)
			t[i] = (starpu_timing_now() - start) / size;
	}
	qsort(t, (size_t) n, sizeof(*t), by_value);
	double median = t[n / 2];
	starpu_data_unregister(h);
	free(buf);
	free(t);
	return median;
}

/* About a millisecond of arithmetic. */
static void compute(void *buffers[], void *arg)
{
	volatile double x = 1;
	double start = starpu_timing_now();

	(void) buffers;
	(void) arg;
	for (int i = 0; i < 300000; i++)
		x = x * 1.0000001 + 1e-9;
	kernel_us += starpu_timing_now() - start;
	nkernels++;
}

static struct starpu_codelet cl = { .cpu_funcs = { compute }, .name = "compute" };

static void again(void *arg)
{
	(void) arg;
	if (!__atomic_load_n(&over, __ATOMIC_RELAXED) &&
	    starpu_task_insert(&cl, STARPU_CALLBACK, again, 0))
		abort();
}

int main(int argc, char **argv)
{
	static const int sizes[] = { 1, 4096, 65536 };
	int busy = argc > 1 && !strcmp(argv[1], "busy"), n = argc > 2 ? atoi(argv[2]) : 500;
	int ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);

	if (ret)
		return ret == -19 ? 77 : 1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (busy)
		again(NULL);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		double median = measure(sizes[i], n);
		if (rank == 0)
			printf("%d %.3f\n", sizes[i], median);
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	starpu_task_wait_for_all();
	if (rank == 0 && busy)
		printf("kernel %.3f\n", kernel_us / (double) nkernels);
	starpu_mpi_shutdown();
	return 0;
}
