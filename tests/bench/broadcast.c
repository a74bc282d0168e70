/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One datum of rank 0 for all other ranks, from 4 KiB to 8 MiB: with cooperative sends, without,
 * and by MPI_Bcast in the same run. The time is that of the last rank.
 *
 * orr-bench: sim -n 64
 * orr-bench: run -n 4 */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT = 3 };

static int rank, size;

static double slowest(double us)
{
	double most = 0;

	MPI_Allreduce(&us, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

static double by_mpi(char *buf, size_t bytes)
{
	double best = 1e30;

	for (int i = 0; i < REPEAT; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		double start = starpu_timing_now();
		MPI_Bcast(buf, (int) bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		double us = slowest(starpu_timing_now() - start);
		best = us < best ? us : best;
	}
	return best;
}

static double by_runtime(char *buf, size_t bytes, int trees)
{
	starpu_data_handle_t h;
	double best = 1e30;

	starpu_mpi_coop_sends_set_use(trees);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) buf, (uint32_t) bytes, 1);
	starpu_mpi_data_register(h, 1, 0);
	for (int i = 0; i < REPEAT; i++) {
		starpu_mpi_cache_flush(MPI_COMM_WORLD, h);
		if (rank == 0) {
			starpu_data_acquire(h, STARPU_W);
			starpu_data_release(h);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		double start = starpu_timing_now();
		starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, h);
		starpu_data_acquire(h, STARPU_R);
		double us = slowest(starpu_timing_now() - start);
		starpu_data_release(h);
		starpu_mpi_wait_for_all(MPI_COMM_WORLD);
		best = us < best ? us : best;
	}
	starpu_data_unregister(h);
	return best;
}

int main(int argc, char **argv)
{
	static const int kib[] = { 4, 16, 64, 256, 1024, 2048, 3072, 4096, 8192 };

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	char *buf = calloc(8192, 1024);
	for (unsigned i = 0; i < sizeof(kib) / sizeof(kib[0]); i++) {
		size_t bytes = (size_t) kib[i] << 10;
		double mpi = by_mpi(buf, bytes), flat = by_runtime(buf, bytes, 0),
		       tree = by_runtime(buf, bytes, 1);
		if (rank == 0)
			printf("broadcast of %5d KiB to %d ranks: MPI_Bcast %9.1f us, without trees %9.1f us (%.2f), with trees %9.1f us (%.2f)\n",
			       kib[i], size - 1, mpi, flat, flat / mpi, tree, tree / mpi);
	}
	free(buf);
	starpu_mpi_shutdown();
	return 0;
}
