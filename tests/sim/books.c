/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small runs whose books are known (books.sh): prints what each rank's workers did with their time,
 * in nanoseconds, and the time itself.
 *
 *      books RUN TASKS KERNEL_US [FOREIGN or KIB]
 *
 * ready    the tasks are there before the workers may take them
 * fed      the workers take them while the program submits them
 * chain    each task needs the one before
 * turns    likewise, and the first two workers execute them in turn
 * sized    likewise, with data of KIB KiB
 * foreign  fed by rank 0, which inserts FOREIGN tasks of rank 1 before each of its own
 * message  rank 1's tasks need what rank 0's single task writes, which takes TASKS * KERNEL_US
 *
 * Invariant: profiling begins at virtual time B and the books are read at virtual time E, of which
 * E - B is printed. */
#include "../mpi/mpi_test.h"

#include <orrery.h>
#include <string.h>

static double kernel_us, long_us;

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}
static double short_time(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return kernel_us;
}
static double long_time(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return long_us;
}

static struct starpu_perfmodel short_model = { .type = STARPU_COMMON, .cost_function = short_time };
static struct starpu_perfmodel long_model = { .type = STARPU_COMMON, .cost_function = long_time };
static struct starpu_codelet alone_cl = { .cpu_funcs = { nothing },
					  .model = &short_model,
					  .name = "alone" };
static struct starpu_codelet chain_cl = { .cpu_funcs = { nothing },
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .model = &short_model,
					  .name = "chain" };
static struct starpu_codelet sized_cl = { .cpu_funcs = { nothing },
					  .nbuffers = 1,
					  .modes = { STARPU_W },
					  .model = &short_model,
					  .name = "sized" };
static struct starpu_codelet write_cl = { .cpu_funcs = { nothing },
					  .nbuffers = 1,
					  .modes = { STARPU_W },
					  .model = &long_model,
					  .name = "write" };

static void fed(int tasks, int foreign)
{
	for (int i = 0; i < tasks; i++) {
		for (int k = 0; k < foreign; k++)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &alone_cl, STARPU_EXECUTE_ON_NODE,
						  1, 0));
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &alone_cl, STARPU_EXECUTE_ON_NODE, 0, 0));
	}
}

static void chain(starpu_data_handle_t h, int tasks, int in_turn)
{
	for (int i = 0; i < tasks; i++)
		OK(starpu_task_insert(&chain_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER,
				      in_turn ? i % 2 : -1, 0));
}

static void message(starpu_data_handle_t h, int tasks)
{
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &write_cl, STARPU_W, h, 0));
	for (int i = 0; rank == 1 && i < tasks; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &chain_cl, STARPU_RW, h,
					  STARPU_EXECUTE_ON_NODE, 1, 0));
	if (rank == 0)
		for (int i = 0; i < tasks; i++)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &chain_cl, STARPU_RW, h,
						  STARPU_EXECUTE_ON_NODE, 1, 0));
}

static void sized(int tasks, int kib)
{
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, -1, 0, (uint32_t) kib * 1024, 1);
	for (int i = 0; i < tasks; i++)
		OK(starpu_task_insert(&sized_cl, STARPU_W, h, 0));
	starpu_data_unregister_submit(h);
}

static void run(const char *what, starpu_data_handle_t h, int tasks, int foreign)
{
	int ready = !strcmp(what, "ready");

	if (ready)
		starpu_pause();
	else
		starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	if (ready || !strcmp(what, "fed") || !strcmp(what, "foreign"))
		fed(rank == 0 ? tasks : 0, foreign);
	else if (!strcmp(what, "chain") || !strcmp(what, "turns"))
		chain(h, tasks, what[0] == 't');
	else if (!strcmp(what, "sized"))
		sized(tasks, foreign);
	else
		message(h, tasks);
	if (ready) {
		starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
		starpu_resume();
	}
	OK(starpu_task_wait_for_all());
}

int main(int argc, char **argv)
{
	struct orrery_worker_times t;
	starpu_data_handle_t h;

	if (argc < 4 || !begin(&argc, &argv, 1))
		return 77;
	int tasks = atoi(argv[2]);
	kernel_us = atof(argv[3]);
	long_us = tasks * kernel_us;
	new_int(&h);
	if (rank == 0)
		set_int(h, 0);
	starpu_mpi_data_register(h, 1, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = starpu_timing_now();
	run(argv[1], h, tasks, argc > 4 ? atoi(argv[4]) : 0);
	if (!strcmp(argv[1], "ready"))
		start = -1;
	OK(orrery_worker_times(-1, &t));
	printf("rank %d: kernels %.0f messages %.0f submission %.0f foreign %.0f idle %.0f data %.0f "
	       "runtime %.0f passed %.0f\n",
	       rank, t.kernels_us * 1e3, t.messages_us * 1e3, t.submission_us * 1e3,
	       t.foreign_us * 1e3, t.idle_us * 1e3, t.data_us * 1e3, t.runtime_us * 1e3,
	       start < 0 ? -1 : (starpu_timing_now() - start) * 1e3);
	starpu_data_unregister(h);
	return end();
}
