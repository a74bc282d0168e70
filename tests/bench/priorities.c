/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The use of priorities of messages (handbook, 14.13): rank 0 has blocks for rank 1, which
 * works on each for a while. The block that is sent last begins a chain of tasks, so all else
 * should wait for it.
 *
 * Prints when the chain's block arrived and when all was done. priorities.sh runs it with and
 * without STARPU_MPI_PRIORITIES.
 *
 * Invariant: the chain's last task comes after all of its others, in both runs. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 64
#define BYTES (1 << 20)
#define CHAIN 64
#define KERNEL_US 500.0

static double arrived, begun;

static void work(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(KERNEL_US * 1e-6);
}

static void first(void *buffers[], void *arg)
{
	arrived = starpu_timing_now();
	work(buffers, arg);
}

static double cost(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) arch;
	(void) nimpl;
	return KERNEL_US;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH, .arch_cost_function = cost };
static struct starpu_codelet use = {
	.cpu_funcs = { work }, .nbuffers = 1, .modes = { STARPU_R }, .model = &model, .name = "use"
};
static struct starpu_codelet start = { .cpu_funcs = { first },
				       .nbuffers = 2,
				       .modes = { STARPU_R, STARPU_RW },
				       .model = &model,
				       .name = "start" };
static struct starpu_codelet next = { .cpu_funcs = { work },
				      .nbuffers = 1,
				      .modes = { STARPU_RW },
				      .model = &model,
				      .name = "next" };

static void insert(starpu_data_handle_t *block, starpu_data_handle_t chain)
{
	int err = 0;
	for (int i = 0; i < BLOCKS && !err; i++)
		err = starpu_mpi_task_insert(MPI_COMM_WORLD, &use, STARPU_R, block[i],
					     STARPU_EXECUTE_ON_NODE, 1, STARPU_PRIORITY, 0, 0);
	if (!err)
		err = starpu_mpi_task_insert(MPI_COMM_WORLD, &start, STARPU_R, block[BLOCKS],
					     STARPU_RW, chain, STARPU_EXECUTE_ON_NODE, 1,
					     STARPU_PRIORITY, STARPU_MAX_PRIO, 0);
	for (int i = 1; i < CHAIN && !err; i++)
		err = starpu_mpi_task_insert(MPI_COMM_WORLD, &next, STARPU_RW, chain,
					     STARPU_PRIORITY, STARPU_MAX_PRIO, 0);
	if (err)
		abort();
}

int main(int argc, char **argv)
{
	starpu_data_handle_t block[BLOCKS + 1], chain;
	char *bytes[BLOCKS + 1] = { NULL };
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	int rank = starpu_mpi_world_rank();
	long sum = 0;
	for (int i = 0; i <= BLOCKS; i++) {
		if (!rank)
			bytes[i] = calloc(1, BYTES);
		starpu_vector_data_register(&block[i], rank ? -1 : STARPU_MAIN_RAM,
					    (uintptr_t) bytes[i], BYTES, 1);
		starpu_mpi_data_register(block[i], i, 0);
	}
	starpu_variable_data_register(&chain, rank == 1 ? STARPU_MAIN_RAM : -1, (uintptr_t) &sum,
				      sizeof(sum));
	starpu_mpi_data_register(chain, BLOCKS + 1, 1);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	begun = starpu_timing_now();
	insert(block, chain);
	starpu_task_wait_for_all();
	if (rank == 1)
		printf("%.1f %.1f\n", (arrived - begun) * 1e-3,
		       (starpu_timing_now() - begun) * 1e-3);
	for (int i = 0; i <= BLOCKS; i++) {
		starpu_data_unregister(block[i]);
		free(bytes[i]);
	}
	starpu_data_unregister(chain);
	starpu_mpi_shutdown();
	return 0;
}
