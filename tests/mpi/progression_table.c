/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of the progression, policies: tasks of equal cost spread over all workers, whoever
 * polls. The progression's own thread notices a message at once while all workers execute; one that
 * executes tasks itself, after as many tasks as it executes in a row. Threads of the program that
 * wait notice it, too, in the real world.
 *
 * The start reads the variables, so that one run tries all. Times are checked in the simulated
 * world only.
 * orr-test: ranks 2
 * orr-test: sim-ranks 2
 * orr-test: sim-args --cpus 8
 * orr-test: timeout 120 */
#include "mpi_test.h"

#include <orrery.h>
#include <unistd.h>

enum { WORKERS = 8, TASKS = 400, TAG = 3 };
#define TASK_S 100e-6

static int count[WORKERS];
static double noticed_us;

static void cpu_nap(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	__atomic_add_fetch(&count[starpu_worker_get_id()], 1, __ATOMIC_RELAXED);
	usleep((useconds_t) (TASK_S * 1e6)); /* the worker waits, and nobody else */
}

static struct starpu_codelet nap_cl = { .cpu_funcs = { cpu_nap },
					.flags = STARPU_CODELET_SIMGRID_EXECUTE,
					.name = "nap" };

struct row {
	const char *calls, *tasks; /* STARPU_MPI_DRIVER_{CALL,TASK}_FREQUENCY */
	const char *look;          /* ORRERY_MPI_WORKERS_LOOK */
	double least, most;        /* tasks that a message waits for */
};

static const struct row rows[] = {
	{ "0", "1", NULL, -0.1, 0.1 }, { "0", "1", "0", -0.1, 0.1 },  { "0", "1", "1", -0.1, 0.1 },
	{ "1", "1", NULL, 0.3, 1 },    { "1000", "1", NULL, 0.3, 1 }, { "1", "5", NULL, 0.3, 5 },
	{ "1000", "5", "1", 0.3, 5 },  { "2", "1", "0", 0.3, 1 },     { "1", "1000", NULL, 5, 20 },
};

/* SMPI's messages are noticed by waiting for them only. */
static int looks_between_tasks(void)
{
	const char *network = getenv("ORR_TEST_NETWORK");
	return !network || strcmp(network, "smpi");
}

static const char *const policies[] = { "lws", "ws", "eager", "prio", "dmda", "modular-eager" };

static void on_message(void *arg)
{
	(void) arg;
	noticed_us = starpu_timing_now();
}

static void insert(int n)
{
	for (int i = 0; i < n; i++)
		OK(starpu_task_insert(&nap_cl, 0));
}

/* The message is sent in the middle of a task of each worker of rank 1, whose program sleeps.
 * Returns for how many tasks it waited. */
static double waited(void)
{
	starpu_data_handle_t h;
	double begin_us;

	new_int(&h);
	set_int(h, rank);
	if (rank)
		OK(starpu_mpi_irecv_detached(h, 0, TAG, MPI_COMM_WORLD, on_message, NULL));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	begin_us = starpu_timing_now();
	if (rank)
		insert(20 * WORKERS);
	starpu_sleep(9.5 * TASK_S);
	if (!rank)
		OK(starpu_mpi_isend_detached(h, 1, TAG, MPI_COMM_WORLD, NULL, NULL));
	starpu_sleep(20 * TASK_S);
	OK(starpu_task_wait_for_all());
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK_IS(int_of(h), 0);
	starpu_data_unregister(h);
	return rank ? (noticed_us - begin_us) / (TASK_S * 1e6) - 9.5 : 0;
}

/* Returns how many times longer than necessary the tasks took. */
static double spread(void)
{
	double begin_us;

	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	begin_us = starpu_timing_now();
	for (int i = 0; i < 2 * TASKS; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &nap_cl, STARPU_EXECUTE_ON_NODE, i % 2,
					  0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	return (starpu_timing_now() - begin_us) / (TASK_S * 1e6 * TASKS / WORKERS);
}

/* The tasks of the worker that executed fewest of them, on any rank. */
static int fewest(void)
{
	int least = count[0], all;

	for (int w = 1; w < WORKERS; w++)
		least = count[w] < least ? count[w] : least;
	MPI_Allreduce(&least, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return all;
}

static void try(const struct row *r, const char *policy)
{
	int sum = 0, rounds = 0;
	double longer, late;

	memset(count, 0, sizeof(count));
	OK(setenv("STARPU_MPI_DRIVER_CALL_FREQUENCY", r->calls, 1));
	OK(setenv("STARPU_MPI_DRIVER_TASK_FREQUENCY", r->tasks, 1));
	OK(r->look ? setenv("ORRERY_MPI_WORKERS_LOOK", r->look, 1)
		   : unsetenv("ORRERY_MPI_WORKERS_LOOK"));
	OK(setenv("STARPU_SCHED", policy, 1));
	OK(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL));
	CHECK_IS(starpu_cpu_worker_get_count(), WORKERS);
	/* Real workers may lose their cores to other programs for longer than a round takes. */
	do {
		longer = spread();
		rounds++;
	} while (!fewest() && !orrery_is_simulated() && rounds < 200);
	int least = orrery_is_simulated() ? TASKS / WORKERS * 3 / 4 : 1;
	for (int w = 0; w < WORKERS; w++) {
		sum += count[w];
		CHECK(count[w] >= least, "%s, calls %s, tasks %s, look %s: worker %d executed %d",
		      policy, r->calls, r->tasks, r->look ? r->look : "-", w, count[w]);
	}
	CHECK_IS(sum, rounds * TASKS);
	late = waited();
	CHECK(!orrery_is_simulated() ||
		      (longer < 1.1 &&
		       (!rank || (late > r->least && (late < r->most || !looks_between_tasks())))),
	      "%s, calls %s, tasks %s, look %s: %.3f times longer, %.3f tasks late", policy,
	      r->calls, r->tasks, r->look ? r->look : "-", longer, late);
	OK(starpu_mpi_shutdown());
}

int main(int argc, char **argv)
{
	int level;

	setenv("STARPU_NCPU", "8", 1);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	test_rank = rank;
	for (unsigned p = 0; p < sizeof(policies) / sizeof(*policies); p++)
		for (unsigned r = 0; r < sizeof(rows) / sizeof(*rows); r++)
			try(&rows[r], policies[p]);
	MPI_Finalize();
	return 0;
}
