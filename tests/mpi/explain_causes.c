/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs whose time goes to one thing: what tests/tools/explain_causes.sh has explained. Words
 * name=value change what is done; times are in microseconds.
 *     rounds     each rank takes the block of the rank before, and makes its own from it
 *     tree       each rank takes the block of rank 0
 *     spread     rank 0 has all blocks, and the others take them
 *     devices    each task of a round changes a block of its own, on a device
 *     units      tasks that processors and devices can execute
 *     order      a chain of urgent tasks, and others that are in nobody's way
 *     pool       tasks that do not wait for each other
 *     pile       rank 0 sends now and then, rank 1 receives all of it at the end; ahead=1: the
 * other way round
 *
 * Invariant: without words that change something, all ranks do the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>
#include "lib/test.h"

#define MOST 1024

/* The settings, as the words of the command line give them. */
static struct {
	double rounds, bytes, make, take, which, factor, sleep, begin, more, callback, hold, blocks,
		tasks, device, cpu, says, priority, barrier, once, ends, pop, ahead;
} is = { .rounds = 20,
	 .bytes = 64,
	 .make = 1000,
	 .take = 1000,
	 .which = -1,
	 .factor = 1,
	 .more = 1,
	 .blocks = 32,
	 .tasks = 64,
	 .device = 1000,
	 .cpu = 10000,
	 .says = -1 };
static const struct {
	const char *name;
	double *value;
} WORDS[] = { { "rounds", &is.rounds }, { "bytes", &is.bytes },       { "make", &is.make },
	      { "take", &is.take },     { "which", &is.which },       { "factor", &is.factor },
	      { "sleep", &is.sleep },   { "begin", &is.begin },       { "more", &is.more },
	      { "hold", &is.hold },     { "callback", &is.callback }, { "blocks", &is.blocks },
	      { "tasks", &is.tasks },   { "device", &is.device },     { "cpu", &is.cpu },
	      { "says", &is.says },     { "priority", &is.priority }, { "barrier", &is.barrier },
	      { "once", &is.once },     { "ends", &is.ends },         { "pop", &is.pop },
	      { "ahead", &is.ahead } };
static int rank, size, nmade;

/* once: `make' of that round alone is slow. */
static double own(double us, int round)
{
	return 1e-6 * us *
	       (rank == (int) is.which && (is.once <= 0 || round == (int) is.once) ? is.factor : 1);
}

static void make_one(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(own(is.make, ++nmade));
}

static void take_one(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(own(is.take, 0));
}

/* Simulated devices call it, too. */
static void on_either(void **buffers, void *arg)
{
	int cpu = starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CPU_WORKER;

	(void) buffers;
	(void) arg;
	starpu_sleep(1e-6 * (cpu ? is.cpu : is.device));
}

static double says(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned n)
{
	(void) task;
	(void) n;
	return arch->devices[0].type == STARPU_CPU_WORKER ? is.cpu
	       : is.says >= 0                             ? is.says
							  : is.device;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH,
					 .arch_cost_function = says,
					 .symbol = "explain_causes" };
static struct starpu_codelet make = {
	.cpu_funcs = { make_one }, .nbuffers = 2, .modes = { STARPU_R, STARPU_RW }, .name = "make"
};
static struct starpu_codelet take = {
	.cpu_funcs = { take_one }, .nbuffers = 2, .modes = { STARPU_R, STARPU_W }, .name = "take"
};
static struct starpu_codelet change = {
	.cuda_funcs = { on_either }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "change"
};
static struct starpu_codelet either = { .cpu_funcs = { on_either },
					.cuda_funcs = { on_either },
					.nbuffers = 1,
					.modes = { STARPU_RW },
					.model = &model,
					.name = "either" };
static struct starpu_codelet urgent = {
	.cpu_funcs = { make_one }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "urgent"
};
static struct starpu_codelet other = {
	.cpu_funcs = { take_one }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "other"
};

static starpu_data_handle_t blocks[MOST], taken[MOST], extra[MOST];
static double own_words[MOST][1];

static void called(void *arg)
{
	(void) arg;
	starpu_sleep(1e-6 * is.callback);
}

/* The end of a task, and its begin. */
static void ended(void *arg)
{
	(void) arg;
	starpu_sleep(1e-6 * is.ends);
}

static void popped(void *arg)
{
	(void) arg;
	starpu_sleep(1e-6 * is.pop);
}

/* A message beside the others, whose callback takes its time. */
static void ring(int round)
{
	starpu_data_handle_t to = extra[rank], from = extra[(rank + size - 1) % size];

	if (is.callback <= 0)
		return;
	OK(starpu_mpi_isend_detached(to, (rank + 1) % size, 100000 + round, MPI_COMM_WORLD, NULL,
				     NULL));
	OK(starpu_mpi_irecv_detached(from, (rank + size - 1) % size, 100000 + round, MPI_COMM_WORLD,
				     called, NULL));
}

/* Each rank but the first takes blocks of the first one. */
static void spread(void)
{
	for (int i = 0; i < (int) is.rounds; i++)
		for (int b = 0; b < (int) is.blocks; b++)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &take, STARPU_R, blocks[b],
						  STARPU_W, taken[b], 0));
}

static void rounds(int fan)
{
	for (int i = 0; i < (int) is.rounds; i++) {
		if (is.sleep > 0)
			starpu_sleep(1e-6 * is.sleep);
		if (is.hold > 0)
			OK(starpu_data_acquire(blocks[rank], STARPU_RW));
		ring(i);
		for (int r = 0; r < size; r++)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &take, STARPU_R,
						  blocks[fan ? 0 : (r + size - 1) % size], STARPU_W,
						  taken[r], 0));
		for (int r = 0; r < size; r++)
			for (int k = 0; k < (r == 1 ? (int) is.more : 1); k++)
				OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &make, STARPU_R, taken[r],
							  STARPU_RW, blocks[r], 0));
		if (is.hold > 0) {
			starpu_sleep(1e-6 * is.hold);
			starpu_data_release(blocks[rank]);
		}
		if (is.barrier > 0)
			OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	}
}

static void insert(struct starpu_codelet *cl, int block, int priority)
{
	OK(starpu_task_insert(cl, STARPU_RW, blocks[block], STARPU_PRIORITY, priority,
			      STARPU_CALLBACK, is.ends > 0 ? ended : NULL,
			      STARPU_PROLOGUE_CALLBACK_POP, is.pop > 0 ? popped : NULL, 0));
}

static void pile(void)
{
	int at_end = rank != (int) is.ahead;

	for (int i = 0; i < (int) is.rounds && !at_end; i++) {
		starpu_sleep(1e-6 * is.sleep);
		if (rank == 0)
			OK(starpu_mpi_isend_detached(extra[0], 1, i, MPI_COMM_WORLD, NULL, NULL));
		else
			OK(starpu_mpi_irecv_detached(extra[1], 0, i, MPI_COMM_WORLD, NULL, NULL));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < (int) is.rounds && at_end; i++)
		if (rank == 0)
			OK(starpu_mpi_isend_detached(extra[0], 1, i, MPI_COMM_WORLD, NULL, NULL));
		else
			OK(starpu_mpi_irecv_detached(extra[1], 0, i, MPI_COMM_WORLD, NULL, NULL));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
}

/* Tasks of one rank. */
static void alone(const char *kind)
{
	for (int i = 0; i < (int) is.rounds; i++)
		for (int k = 0; k < (int) is.tasks; k++) {
			if (is.sleep > 0)
				starpu_sleep(1e-6 * is.sleep);
			if (!strcmp(kind, "devices"))
				insert(&change, k % (int) is.blocks, 0);
			else if (!strcmp(kind, "units"))
				insert(&either, k % (int) is.blocks, 0);
			else if (!strcmp(kind, "pool"))
				insert(&other, k % (int) is.blocks, 0);
			else
				insert(&other, 1 + (i * (int) is.tasks + k) % ((int) is.blocks - 1),
				       0);
		}
	for (int i = 0; i < (int) is.rounds && !strcmp(kind, "order"); i++)
		insert(&urgent, 0, (int) is.priority);
}

static void words(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		size_t w = 0, n = sizeof(WORDS) / sizeof(*WORDS);

		while (w < n && value &&
		       (strncmp(argv[i], WORDS[w].name, (size_t) (value - argv[i])) ||
			strlen(WORDS[w].name) != (size_t) (value - argv[i])))
			w++;
		if (!value || w == n) {
			fprintf(stderr, "explain_causes: there is no %s\n", argv[i]);
			exit(1);
		}
		*WORDS[w].value = atof(value + 1);
	}
}

static void set_up(int n, int all, int spreads, void **memory)
{
	for (int r = 0; r < n; r++) {
		int here = all || (spreads ? rank == 0 : r == rank);

		memory[r] = here ? calloc(1, (size_t) is.bytes) : NULL;
		starpu_vector_data_register(&blocks[r], here ? STARPU_MAIN_RAM : -1,
					    (uintptr_t) memory[r], (uint32_t) is.bytes, 1);
		starpu_vector_data_register(&taken[r], -1, 0, 8, 1);
		starpu_vector_data_register(&extra[r], STARPU_MAIN_RAM, (uintptr_t) own_words[r], 8,
					    1);
		if (all)
			continue;
		starpu_mpi_data_register(blocks[r], r, spreads ? 0 : r);
		starpu_mpi_data_register(taken[r], n + r, spreads ? 1 + r % (size - 1) : r);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "rounds";
	void *memory[MOST];

	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	words(argc, argv);
	int spreads = !strcmp(kind, "spread");
	int together = !strcmp(kind, "rounds") || !strcmp(kind, "tree") || !strcmp(kind, "pile");
	int n = together ? size : (int) is.blocks;

	CHECK(n <= MOST);
	set_up(n, !together && !spreads, spreads, memory);
	if (is.begin > 0 && rank == (int) is.which)
		starpu_sleep(1e-6 * is.begin);
	if (!strcmp(kind, "pile"))
		pile();
	else if (together)
		rounds(!strcmp(kind, "tree"));
	else if (spreads)
		spread();
	else
		alone(kind);
	for (int r = 0; r < n; r++) {
		starpu_data_unregister(blocks[r]);
		starpu_data_unregister(taken[r]);
		starpu_data_unregister(extra[r]);
		free(memory[r]);
	}
	starpu_mpi_shutdown();
	return 0;
}
