/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rounds of tasks on all ranks at once, which take the block of the rank before and make their own
 * from it: what tests/tools/explain.sh has explained. An argument makes something go wrong:
 *     late        the program does something else before each round
 *     slow-rank   the kernels of rank 2 take four times as long
 *     slow-kernel the kernel "take" takes ten times as long
 *     imbalance   rank 1 has four times as many tasks
 *     tiny        kernels take next to nothing
 *     big         blocks of 1 MiB
 *     fan         blocks of 1 MiB, and all ranks take the one of rank 0
 *     redux       each rank does something else: it reduces, and uses the result
 *
 * Invariant: without an argument, all ranks do the same. */
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>
#include "lib/test.h"

#define ROUNDS 20
#define MOST 4
#define BIG (1 << 20)

static double seconds, seconds_to_take;

static void work(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(seconds);
}

static void fetch(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(seconds_to_take);
}

static struct starpu_codelet make = {
	.cpu_funcs = { work }, .nbuffers = 2, .modes = { STARPU_R, STARPU_RW }, .name = "make"
};
static struct starpu_codelet take = {
	.cpu_funcs = { fetch }, .nbuffers = 2, .modes = { STARPU_R, STARPU_W }, .name = "take"
};

static void clear(void **buffers, void *arg)
{
	(void) arg;
	*(double *) STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static struct starpu_codelet zero = {
	.cpu_funcs = { clear }, .nbuffers = 1, .modes = { STARPU_W }, .name = "zero"
};
static struct starpu_codelet combine = { .cpu_funcs = { work },
					 .nbuffers = 2,
					 .modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
					 .name = "combine" };
static struct starpu_codelet contribute = {
	.cpu_funcs = { work }, .nbuffers = 1, .modes = { STARPU_REDUX }, .name = "contribute"
};
static struct starpu_codelet use = {
	.cpu_funcs = { work }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "use"
};

/* A chain through the runtime's own tasks: nobody but they lets the next task of the program go on.
 */
static void reductions(void)
{
	starpu_data_handle_t sum;

	starpu_variable_data_register(&sum, -1, 0, sizeof(double));
	starpu_data_set_reduction_methods(sum, &combine, &zero);
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < MOST; k++)
			OK(starpu_task_insert(&contribute, STARPU_REDUX, sum, 0));
		OK(starpu_task_insert(&use, STARPU_RW, sum, 0));
	}
	starpu_data_unregister(sum);
}

static void rounds(starpu_data_handle_t *blocks, starpu_data_handle_t *taken, int size,
		   const char *kind)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (!strcmp(kind, "late"))
			starpu_sleep(0.005);
		for (int r = 0; r < size; r++)
			OK(starpu_mpi_task_insert(
				MPI_COMM_WORLD, &take, STARPU_R,
				blocks[strcmp(kind, "fan") ? (r + size - 1) % size : 0], STARPU_W,
				taken[r], 0));
		for (int r = 0; r < size; r++)
			for (int k = 0; k < (r == 1 && !strcmp(kind, "imbalance") ? MOST : 1); k++)
				OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &make, STARPU_R, taken[r],
							  STARPU_RW, blocks[r], 0));
	}
}

static void set_up(starpu_data_handle_t *blocks, starpu_data_handle_t *taken, int rank, int size,
		   char *mine, size_t bytes)
{
	for (int r = 0; r < size; r++) {
		uintptr_t place = r == rank ? (uintptr_t) mine : 0;

		starpu_vector_data_register(&blocks[r], r == rank ? STARPU_MAIN_RAM : -1, place,
					    (uint32_t) bytes, 1);
		starpu_mpi_data_register(blocks[r], r, r);
		starpu_vector_data_register(&taken[r], -1, 0, 8, 1);
		starpu_mpi_data_register(taken[r], size + r, r);
	}
}

int main(int argc, char **argv)
{
	int rank, size;
	const char *kind = argc > 1 ? argv[1] : "healthy";
	size_t bytes = !strcmp(kind, "big") || !strcmp(kind, "fan") ? BIG : 64;

	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	seconds = !strcmp(kind, "tiny")                     ? 1e-7
		  : !strcmp(kind, "slow-rank") && rank == 2 ? 0.004
							    : 0.001;
	seconds_to_take = strcmp(kind, "slow-kernel") ? seconds : 10 * seconds;

	starpu_data_handle_t *blocks = calloc(2 * (size_t) size, sizeof(*blocks)),
			     *taken = blocks + size;
	char *mine = calloc(1, bytes);

	set_up(blocks, taken, rank, size, mine, bytes);
	if (strcmp(kind, "redux"))
		rounds(blocks, taken, size, kind);
	else
		reductions();
	for (int r = 0; r < 2 * size; r++)
		starpu_data_unregister(blocks[r]);
	free(blocks);
	free(mine);
	starpu_mpi_shutdown();
	return 0;
}
