/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run that ends in the middle: what tests/tools/trace_ends.sh records.
 *     trace_ends HOW KERNEL ROUNDS FOLDER
 * In its kernel number KERNEL, counted from 1, rank 1 crashes (HOW: crash), is killed (kill), or
 * nothing happens (no). A kernel notes its end in FOLDER/RANK, one byte each. FOLDER/RANK.pid has
 * the number of the process.
 *
 * Invariant: what is noted has happened: a trace must know of it, but for kernels that had not
 * left their function when the process ended.
 *
 * orr-test: driven by tests/tools/trace_ends.sh */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <starpu_mpi.h>
#include "lib/test.h"

static int *volatile nowhere;
static const char *how;
static int log_fd, at_kernel, nkernels, my_rank;

static void work(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	int n = __atomic_add_fetch(&nkernels, 1, __ATOMIC_RELAXED);

	if (my_rank == 1 && n == at_kernel) {
		if (!strcmp(how, "crash"))
			*nowhere = 1;
		if (!strcmp(how, "kill"))
			raise(SIGKILL);
	}
	starpu_sleep(0.0003);
	CHECK(write(log_fd, "x", 1) == 1);
}

static struct starpu_codelet own = {
	.cpu_funcs = { work }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "own"
};
static struct starpu_codelet take = {
	.cpu_funcs = { work }, .nbuffers = 2, .modes = { STARPU_R, STARPU_RW }, .name = "take"
};

static void rounds(starpu_data_handle_t *blocks, int size, int n)
{
	for (int i = 0; i < n; i++)
		for (int r = 0; r < size; r++) {
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &own, STARPU_RW, blocks[r], 0));
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &take, STARPU_R, blocks[r],
						  STARPU_RW, blocks[(r + 1) % size], 0));
		}
}

int main(int argc, char **argv)
{
	int size, nrounds, value = 0;
	char path[4096];

	CHECK(argc == 5);
	how = argv[1];
	at_kernel = atoi(argv[2]);
	nrounds = atoi(argv[3]);
	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &my_rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	snprintf(path, sizeof(path), "%s/%d", argv[4], my_rank);
	log_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
	CHECK(log_fd >= 0);

	snprintf(path, sizeof(path), "%s/%d.pid", argv[4], my_rank);
	FILE *pid = fopen(path, "w");

	CHECK(pid && fprintf(pid, "%ld\n", (long) getpid()) > 0 && !fclose(pid));

	starpu_data_handle_t *blocks = calloc((size_t) size, sizeof(*blocks));

	for (int r = 0; r < size; r++) {
		uintptr_t place = r == my_rank ? (uintptr_t) &value : 0;

		starpu_variable_data_register(&blocks[r], r == my_rank ? STARPU_MAIN_RAM : -1,
					      place, sizeof(value));
		starpu_mpi_data_register(blocks[r], r, r);
	}
	rounds(blocks, size, nrounds);
	for (int r = 0; r < size; r++)
		starpu_data_unregister(blocks[r]);
	free(blocks);
	close(log_fd);
	starpu_mpi_shutdown();
	return 0;
}
