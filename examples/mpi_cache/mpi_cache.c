/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cache of received values (chapter 14.14 of the handbook): how many messages tasks on all
 * ranks cause that read one datum of rank 0 again and again.
 *
 *      read        a value is sent once to each rank, however often tasks read it there
 *      write       a new value is sent again
 *      flush       so is one that the program gave up: ranks free the memory of their copies
 *      no cache    every task has its message
 *
 * Invariant: a line of the table is counted by the statistics of the ranks, and all tasks add the
 * value that a sequential program would have read.
 *
 *      orrery cc --both mpi_cache.c -o mpi_cache
 *      orrery run -n 4 ./mpi_cache
 *      orrery sim -n 16 mpi_cache.sim --reads 10
 */
#include <starpu_mpi.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Counts the messages of tasks that read one datum again and again.\n"
			    "  --reads N        tasks of each rank in each step (default 5)\n"
			    "  -h, --help       this text\n";

enum { TAG_VALUE = 1, TAG_SUMS = 10 };

static int reads = 5, rank, size, failed;
static long expected; /* the sum that every rank has to come to */

static void increment_cpu(void *buffers[], void *arg)
{
	(void) arg;
	++*(long *) STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static void add_cpu(void *buffers[], void *arg)
{
	(void) arg;
	*(long *) STARPU_VARIABLE_GET_PTR(buffers[0]) += *(const long *) STARPU_VARIABLE_GET_PTR(
		buffers[1]);
}

static struct starpu_codelet increment_cl = {
	.cpu_funcs = { increment_cpu },
	.cpu_funcs_name = { "increment_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "increment",
};

static struct starpu_codelet add_cl = {
	.cpu_funcs = { add_cpu },
	.cpu_funcs_name = { "add_cpu" },
	.nbuffers = 2,
	.modes = { STARPU_RW, STARPU_R },
	.name = "add",
};

/*
 * Messages that all ranks have sent since the program started; each rank calls it. A value to many
 * ranks goes by way of some of them, so rank 0 alone does not send them all.
 */
static long messages(void)
{
	size_t *bytes = calloc((size_t) size, sizeof(*bytes));
	long sum = 0;

	if (!bytes)
		return -1;
	starpu_mpi_comm_stats_retrieve(bytes);
	for (int i = 0; i < size; i++)
		sum += (long) (bytes[i] / sizeof(long));
	free(bytes);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

/*
 * Every rank inserts `reads` tasks that add the value to its own sum; rank 0 knows all of them.
 * `each`: the messages that each other rank is expected to receive.
 */
static void read_by_all(const char *step, starpu_data_handle_t value, long is,
			starpu_data_handle_t *sums, int each)
{
	long before = messages(), sent;
	int there;

	for (int i = 0; i < reads; i++)
		for (int r = 0; r < size; r++)
			if (sums[r])
				failed |= starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_RW,
								 sums[r], STARPU_R, value, 0) != 0;
	expected += reads * is;
	there = rank == 0 ? size == 1 || starpu_mpi_cached_send(value, size - 1)
			  : starpu_mpi_cached_receive(value);
	failed |= there != (size == 1 || starpu_mpi_cache_is_enabled());
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	sent = messages() - before;
	if (rank == 0) {
		printf("mpi_cache nodes=%d step='%s' reads=%d messages=%ld\n", size, step,
		       reads * (size - 1), sent);
		failed |= sent != (long) each * (size - 1);
	}
}

static void steps(starpu_data_handle_t value, starpu_data_handle_t *sums)
{
	read_by_all("read", value, 1, sums, 1);
	read_by_all("read again", value, 1, sums, 0);
	failed |= starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, value, 0) != 0;
	read_by_all("read after a write", value, 2, sums, 1);
	starpu_mpi_cache_flush(MPI_COMM_WORLD, value);
	read_by_all("read after a flush", value, 2, sums, 1);
	starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
	starpu_mpi_cache_set(0);
	read_by_all("read without cache", value, 2, sums, reads);
}

/* The handles of all sums on rank 0, of its own elsewhere. Returns the exit status. */
static int run(void)
{
	starpu_data_handle_t value, *sums = calloc((size_t) size, sizeof(*sums));
	long one = 1, sum = 0;
	int all;

	if (!sums)
		return 1;
	starpu_variable_data_register(&value, rank ? -1 : STARPU_MAIN_RAM, (uintptr_t) &one,
				      sizeof(one));
	starpu_mpi_data_register(value, TAG_VALUE, 0);
	for (int r = 0; r < size; r++)
		if (r == rank || rank == 0) {
			starpu_variable_data_register(&sums[r], r == rank ? STARPU_MAIN_RAM : -1,
						      (uintptr_t) &sum, sizeof(sum));
			starpu_mpi_data_register(sums[r], TAG_SUMS + r, r);
		}
	steps(value, sums);
	for (int r = 0; r < size; r++)
		if (sums[r])
			starpu_data_unregister(sums[r]);
	starpu_data_unregister(value);
	free(sums);
	failed |= sum != expected;
	MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (rank == 0)
		printf("check: %s\n", all ? "FAILED" : "OK");
	return all;
}

int main(int argc, char **argv)
{
	struct options o;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (!options_int(&o, "--reads", NULL, 1, 100000, &reads))
			options_unknown(&o);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ret = options_report(&o, rank, "mpi_cache", usage);
	if (ret < 0) {
		starpu_mpi_comm_stats_enable();
		starpu_mpi_cache_set(1);
		ret = run();
	}
	starpu_mpi_shutdown();
	return ret;
}
