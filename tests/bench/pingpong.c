/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ping-pong between two ranks, by the runtime and by MPI itself in one run; medians of the half
 * round trip, and bandwidths. The runtime's workers and progression thread exist meanwhile, as in
 * any program.
 * orr-bench: run -n 2 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>

/* A message of 4 KiB takes up to 6 % longer or shorter by where its buffer lies in a page, with
 * and without the runtime; malloc would choose that by what was allocated before. */
#define BUFFER_ALIGN 4096

static int rank;

static double now_us(void)
{
	return starpu_timing_now();
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static void once_runtime(starpu_data_handle_t h)
{
	if (rank == 0) {
		starpu_mpi_send(h, 1, 1, MPI_COMM_WORLD);
		starpu_mpi_recv(h, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		starpu_mpi_recv(h, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		starpu_mpi_send(h, 0, 2, MPI_COMM_WORLD);
	}
}

static void once_raw(char *buf, int bytes)
{
	if (rank == 0) {
		MPI_Send(buf, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
		MPI_Recv(buf, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(buf, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(buf, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
	}
}

/* The median of n half round trips; the two take turns in blocks, so that what else the machine
 * does hits both. */
static void measure(int bytes, int n, double *runtime_us, double *raw_us)
{
	char *buf = aligned_alloc(BUFFER_ALIGN, ((size_t) bytes + BUFFER_ALIGN - 1) &
							~(size_t) (BUFFER_ALIGN - 1));
	double *t = malloc(2 * (size_t) n * sizeof(*t));
	starpu_data_handle_t h;

	memset(buf, 1, (size_t) bytes);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) buf, (uint32_t) bytes, 1);
	for (int i = -n / 10 - 2; i < n; i++) {
		double start = now_us();
		once_runtime(h);
		double between = now_us();
		once_raw(buf, bytes);
		if (i >= 0) {
			t[i] = (between - start) / 2;
			t[n + i] = (now_us() - between) / 2;
		}
	}
	qsort(t, (size_t) n, sizeof(*t), by_value);
	qsort(t + n, (size_t) n, sizeof(*t), by_value);
	*runtime_us = t[n / 2];
	*raw_us = t[n + n / 2];
	starpu_data_unregister(h);
	free(buf);
	free(t);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int bytes, n;
	} cases[] = { { "1 B", 1, 5000 },
		      { "4 KiB", 4096, 5000 },
		      { "64 KiB", 65536, 1000 },
		      { "8 MiB", 8 << 20, 200 } };
	int size, ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);

	if (ret)
		return ret == -19 ? 77 : 1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0 && size >= 2)
		printf("pingpong: median of the half round trip, %u workers per rank\n",
		       starpu_worker_get_count());
	for (unsigned i = 0; size >= 2 && rank < 2 && i < sizeof(cases) / sizeof(*cases); i++) {
		double runtime, raw;
		measure(cases[i].bytes, cases[i].n, &runtime, &raw);
		if (rank == 0)
			printf("pingpong %-7s runtime %10.2f us  raw MPI %10.2f us  difference %8.2f us  bandwidth %5.1f %% of raw\n",
			       cases[i].name, runtime, raw, runtime - raw, 100 * raw / runtime);
	}
	starpu_mpi_shutdown();
	return size >= 2 ? 0 : 77;
}
