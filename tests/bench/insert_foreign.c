/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of inserting tasks in which this rank has no part: three data, block-cyclic, tiled
 * matrix product over a grid of ranks. Run by insert_foreign.sh as a fake rank of 16 and of 16,384.
 * Prints nanoseconds per insertion, the best of several rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <starpu_mpi.h>

enum { NT = 64, REPEAT = 20 };
static starpu_data_handle_t tile[NT][NT];

static void cpu_nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet gemm_cl = { .cpu_funcs = { cpu_nothing },
					 .nbuffers = 3,
					 .modes = { STARPU_R, STARPU_R, STARPU_RW },
					 .name = "gemm" };

int main(int argc, char **argv)
{
	int size, rank, p = 1, ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	double best = 1e30;

	if (ret)
		return ret == -19 ? 77 : 1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (size < 4) {
		fprintf(stderr,
			"insert_foreign: with %d ranks no task is foreign; take 4 or more, or a fake rank (STARPU_MPI_FAKE_SIZE)\n",
			size);
		starpu_mpi_shutdown();
		return 77;
	}
	while ((p + 1) * (p + 1) <= size)
		p++;
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++) {
			starpu_variable_data_register(&tile[i][j], -1, 0, sizeof(double));
			starpu_mpi_data_register(tile[i][j], i * NT + j, i % p * p + j % p);
		}
	/* Only tasks that are foreign: rank 5 of a grid has no part in row and column 0 of tiles
	 * owned by others. */
	for (int repeat = 0; repeat < REPEAT; repeat++) {
		double start = starpu_timing_now();
		long n = 0;
		for (int i = 0; i < NT; i++)
			for (int j = 0; j < NT; j++) {
				int k = (i + j) % NT;
				if (i % p * p + j % p == rank || i % p * p + k % p == rank ||
				    k % p * p + j % p == rank)
					continue;
				starpu_mpi_task_insert(MPI_COMM_WORLD, &gemm_cl, STARPU_R,
						       tile[i][k], STARPU_R, tile[k][j], STARPU_RW,
						       tile[i][j], 0);
				n++;
			}
		double ns = (starpu_timing_now() - start) * 1e3 / (double) n;
		if (ns < best)
			best = ns;
	}
	printf("insert_foreign: %.1f ns per foreign task with three data, rank %d of %d\n", best,
	       rank, size);
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++)
			starpu_data_unregister(tile[i][j]);
	starpu_mpi_shutdown();
	return 0;
}
