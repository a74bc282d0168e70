/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One datum of rank 0 for all other ranks, from 4 KiB to 64 MiB: by MPI_Bcast, without trees, and
 * with them if the tasks that read it were inserted before it was written (awaited), and if each
 * insertion finds one more reader of a datum that is there (late). The time is that of the last
 * rank. Arguments: the largest size in KiB (8192), and by what to go, of "mpi", "flat", "awaited"
 * and "late" (all).
 *
 * orr-bench: sim -n 64
 * orr-bench: run -n 4 */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEAT = 3 };

static int rank, size;

/* One clock for all ranks of a computer, or of a simulation. */
static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

/* From the start on rank 0 to the last end. */
static double elapsed(double start, double end)
{
	double mine[2] = { rank ? -1e300 : -start, end }, most[2];

	MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most[1] + most[0];
}

static double by_mpi(char *buf, size_t bytes)
{
	double best = 1e30;

	for (int i = 0; i < REPEAT; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		double start = now_us();
		MPI_Bcast(buf, (int) bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		double us = elapsed(start, now_us());
		best = us < best ? us : best;
	}
	return best;
}

static void cpu_read(void *buffers[], void *arg)
{
	(void) arg;
	*(double *) STARPU_VARIABLE_GET_PTR(buffers[0]) = now_us();
}

static struct starpu_codelet read_cl = { .cpu_funcs = { cpu_read },
					 .nbuffers = 2,
					 .modes = { STARPU_W, STARPU_R },
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					 .name = "read" };

/* Each rank inserts the tasks that it has a part in. Returns the time until the last one began. */
static double read_by_tasks(starpu_data_handle_t h, int awaited)
{
	starpu_data_handle_t *when = calloc((size_t) size, sizeof(*when));
	double began = 0;

	for (int i = 0; i < size; i++) {
		if (i == rank || rank == 0)
			starpu_variable_data_register(&when[i], i == rank ? STARPU_MAIN_RAM : -1,
						      i == rank ? (uintptr_t) &began : 0,
						      sizeof(began));
		if (when[i])
			starpu_mpi_data_register(when[i], 100 + i, i);
	}
	if (rank == 0)
		starpu_data_acquire(h, STARPU_W);
	if (rank == 0 && !awaited)
		starpu_data_release(h);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = now_us();
	for (int i = 1; i < size; i++)
		if (when[i])
			starpu_mpi_task_insert(MPI_COMM_WORLD, &read_cl, STARPU_W, when[i],
					       STARPU_R, h, 0);
	if (awaited) {
		MPI_Barrier(MPI_COMM_WORLD);
		start = now_us();
	}
	if (rank == 0 && awaited)
		starpu_data_release(h);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		if (when[i])
			starpu_data_unregister(when[i]);
	free(when);
	return elapsed(start, rank ? began : start);
}

enum how { FLAT, AWAITED, LATE };

static double by_runtime(char *buf, size_t bytes, enum how how)
{
	starpu_data_handle_t h;
	double best = 1e30;

	starpu_mpi_coop_sends_set_use(how != FLAT);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) buf, (uint32_t) bytes, 1);
	starpu_mpi_data_register(h, 1, 0);
	for (int i = 0; i < REPEAT; i++) {
		starpu_mpi_cache_flush(MPI_COMM_WORLD, h);
		double us = read_by_tasks(h, how != LATE);
		best = us < best ? us : best;
	}
	starpu_data_unregister(h);
	return best;
}

static int wanted(int argc, char **argv, const char *what)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], what))
			return 1;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	static const int kib[] = { 4, 16, 64, 256, 1024, 2048, 3072, 4096, 8192, 65536 };
	int most = argc > 1 ? atoi(argv[1]) : 8192;
	char *buf;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	buf = calloc((size_t) most, 1024);
	for (unsigned i = 0; i < sizeof(kib) / sizeof(kib[0]) && kib[i] <= most; i++) {
		size_t bytes = (size_t) kib[i] << 10;
		double mpi = wanted(argc, argv, "mpi") ? by_mpi(buf, bytes) : 0,
		       flat = wanted(argc, argv, "flat") ? by_runtime(buf, bytes, FLAT) : 0,
		       awaited = wanted(argc, argv, "awaited") ? by_runtime(buf, bytes, AWAITED)
							       : 0,
		       late = wanted(argc, argv, "late") ? by_runtime(buf, bytes, LATE) : 0;
		if (rank == 0)
			printf("broadcast of %5d KiB to %d ranks: MPI_Bcast %9.1f us, without trees %9.1f us, with trees %9.1f us, late %9.1f us\n",
			       kib[i], size - 1, mpi, flat, awaited, late);
	}
	free(buf);
	starpu_mpi_shutdown();
	return 0;
}
