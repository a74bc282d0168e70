/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The work of rank 1 beside its kernels, when it has one core and when it has more (cores.sh):
 * it executes a chain of tasks while messages come from rank 0. Prints how long the chain takes,
 * and when rank 1 noticed the first message.
 *
 *      cores [NAME=VALUE]...   with the names and defaults of `options` below */
#include "../mpi/mpi_test.h"

enum { KERNEL, TASKS, MESSAGES, BYTES, MAKE, OTHER, NOPTIONS };
static struct {
	const char *name, *meaning;
	double value;
} options[NOPTIONS] = {
	[KERNEL] = { "kernel", "microseconds of each task of the chain on rank 1", 1 },
	[TASKS] = { "tasks", "length of that chain", 0 },
	[MESSAGES] = { "messages", "that rank 0 sends", 1 },
	[BYTES] = { "bytes", "of each message", 64 },
	[MAKE] = { "make", "microseconds of the task on rank 0 that writes each message", 1 },
	[OTHER] = { "other", "microseconds of a task that rank 0 executes while it sends, 0: none",
		    0 },
};
static double start, noticed = -1;

static void read_option(const char *word)
{
	size_t length = strcspn(word, "=");
	for (int i = 0; word[length] && i < NOPTIONS; i++) {
		char *end;
		if (strncmp(word, options[i].name, length) || options[i].name[length])
			continue;
		options[i].value = strtod(word + length + 1, &end);
		if (end > word + length + 1 && !*end)
			return;
	}
	fprintf(stderr, "cores: %s: expected NAME=NUMBER, with one of these names:\n", word);
	for (int i = 0; i < NOPTIONS; i++)
		fprintf(stderr, "  %-9s %s (default %g)\n", options[i].name, options[i].meaning,
			options[i].value);
	exit(2);
}

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}
static double chain_time(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return options[KERNEL].value;
}
static double make_time(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return options[MAKE].value;
}
static double other_time(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return options[OTHER].value;
}
static struct starpu_perfmodel other_model = { .type = STARPU_COMMON, .cost_function = other_time };
static struct starpu_perfmodel chain_model = { .type = STARPU_COMMON, .cost_function = chain_time };
static struct starpu_perfmodel make_model = { .type = STARPU_COMMON, .cost_function = make_time };
static struct starpu_codelet chain = { .cpu_funcs = { nothing },
				       .nbuffers = 1,
				       .modes = { STARPU_RW },
				       .model = &chain_model,
				       .name = "chain" };
static struct starpu_codelet make = { .cpu_funcs = { nothing },
				      .nbuffers = 1,
				      .modes = { STARPU_W },
				      .model = &make_model,
				      .name = "make" };

static struct starpu_codelet other = { .cpu_funcs = { nothing },
				       .model = &other_model,
				       .name = "other" };

static void notice(void *arg)
{
	(void) arg;
	if (noticed < 0)
		noticed = starpu_timing_now() - start;
}

static void send(starpu_data_handle_t h)
{
	for (int i = 0; i < options[MESSAGES].value; i++) {
		OK(starpu_task_insert(&make, STARPU_W, h, 0));
		OK(starpu_mpi_isend_detached(h, 1, i, MPI_COMM_WORLD, NULL, NULL));
	}
	if (options[OTHER].value > 0)
		OK(starpu_task_insert(&other, 0));
}

static void compute(starpu_data_handle_t h)
{
	starpu_data_handle_t own;
	int value = 0;

	starpu_variable_data_register(&own, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	for (int i = 0; i < options[MESSAGES].value; i++)
		OK(starpu_mpi_irecv_detached(h, 0, i, MPI_COMM_WORLD, notice, NULL));
	for (int i = 0; i < options[TASKS].value; i++)
		OK(starpu_task_insert(&chain, STARPU_RW, own, 0));
	OK(starpu_data_acquire(own, STARPU_R));
	printf("chain %.0f us\n", starpu_timing_now() - start);
	starpu_data_release(own);
	starpu_data_unregister(own);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	for (int i = 1; i < argc; i++)
		read_option(argv[i]);
	starpu_vector_data_register(&h, -1, 0, (uint32_t) options[BYTES].value, 1);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start = starpu_timing_now();
	if (rank == 0)
		send(h);
	else if (rank == 1)
		compute(h);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 1)
		printf("noticed %.0f us\n", noticed);
	starpu_data_unregister(h);
	return end();
}
