/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parallel workers: groups by number, by size and by the machine; possibly parallel tasks are
 * executed by a whole group, one at a time, the most urgent first, or as a policy says; others by
 * single workers.
 *
 * Invariant: two kernels never run on one worker at a time. */
#include "core_test.h"

#ifdef STARPU_HAVE_HWLOC

#include <errno.h>
#include <string.h>

#include "own_policy.h"

#define NCPUS 4
#define NTASKS 12

static int sizes[NTASKS], nruns, inside[NCPUS], ncreated, order[NTASKS];

static void enter_all(int delta)
{
	int id = starpu_combined_worker_get_id(), n, *workers, one;

	if (starpu_combined_worker_get_description(id, &n, &workers)) {
		n = 1;
		one = id;
		workers = &one;
	}
	for (int i = 0; i < n; i++)
		CHECK_IS(__atomic_add_fetch(&inside[workers[i]], delta, __ATOMIC_ACQ_REL),
			 delta > 0);
}

static void kernel(void *buffers[], void *arg)
{
	int k;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &k);
	sizes[k] = starpu_combined_worker_get_size();
	order[INCR(nruns) - 1] = k;
	enter_all(1);
	starpu_usleep(200);
	enter_all(-1);
}

/* No type: any codelet may be executed by a parallel worker. */
static struct starpu_codelet cl = { .cpu_funcs = { kernel } };

static void run(int parallel)
{
	nruns = 0;
	for (int k = 0; k < NTASKS; k++)
		OK(starpu_task_insert(&cl, STARPU_VALUE, &k, sizeof(k), STARPU_POSSIBLY_PARALLEL,
				      parallel, STARPU_PROLOGUE_CALLBACK_POP,
				      starpu_parallel_worker_openmp_prologue, 0));
	OK(starpu_task_wait_for_all());
	CHECK_IS(nruns, NTASKS);
}

static void check_sizes(int a, int b)
{
	for (int k = 0; k < NTASKS; k++)
		CHECK(sizes[k] == a || sizes[k] == b, "task %d ran on %d workers, not %d or %d", k,
		      sizes[k], a, b);
}

static void created(void *arg)
{
	CHECK(arg == &ncreated);
	INCR(ncreated);
}

static void by_number(void)
{
	struct starpu_parallel_worker_config *c = starpu_parallel_worker_init(
		HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB, 2, STARPU_PARALLEL_WORKER_CREATE_FUNC,
		created, STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG, &ncreated, 0);

	CHECK(c != NULL);
	CHECK_IS(ncreated, 2);
	OK(starpu_parallel_worker_print(c));
	run(1);
	check_sizes(2, 2);
	run(0);
	check_sizes(1, 1);
	/* One set at a time. */
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, 0));
	OK(starpu_parallel_worker_shutdown(c));
	CHECK_IS(starpu_parallel_worker_shutdown(c), -EINVAL);
	run(1);
	check_sizes(1, 1);
}

static void by_machine(void)
{
	struct starpu_parallel_worker_config *c = starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, 0);

	CHECK(c != NULL);
	run(1);
	check_sizes(NCPUS, NCPUS);
	OK(starpu_parallel_worker_shutdown(c));
}

static void by_size(void)
{
	struct starpu_cluster_machine *c = starpu_cluster_machine(
		HWLOC_OBJ_MACHINE, STARPU_CLUSTER_NEW, STARPU_CLUSTER_NCORES, 3, STARPU_CLUSTER_NEW,
		STARPU_CLUSTER_POLICY_NAME, "eager", 0);

	CHECK(c != NULL);
	OK(starpu_cluster_print(c));
	run(1);
	check_sizes(3, 1);
	OK(starpu_uncluster_machine(c));
}

/* Tasks of growing priority, all there before the first one begins. */
static void run_prios(void)
{
	nruns = 0;
	starpu_pause();
	for (int k = 0; k < NTASKS; k++)
		OK(starpu_task_insert(&cl, STARPU_VALUE, &k, sizeof(k), STARPU_POSSIBLY_PARALLEL, 1,
				      STARPU_PRIORITY, k, 0));
	starpu_resume();
	OK(starpu_task_wait_for_all_in_ctx(0));
	CHECK_IS(nruns, NTASKS);
}

/* Only one group: what waits goes by priority. */
static void priorities(void)
{
	struct starpu_parallel_worker_config *c = starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, 0);

	run_prios();
	CHECK_IS(order[0], 0); /* it found the group free */
	for (int i = 1; i < NTASKS; i++)
		CHECK_IS(order[i], NTASKS - i);
	OK(starpu_parallel_worker_shutdown(c));
}

/* Only one group: the policy decides upon the order. */
static void policy_orders(const char *name, int urgent_first)
{
	struct starpu_parallel_worker_config *c = starpu_parallel_worker_init(
		HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_POLICY_NAME, name, 0);

	CHECK(c != NULL);
	CHECK(!strcmp(starpu_sched_ctx_get_sched_policy(1)->policy_name, name));
	run_prios();
	for (int i = 0; i < NTASKS; i++)
		CHECK_IS(order[i], urgent_first ? NTASKS - 1 - i : i);
	check_sizes(NCPUS, NCPUS);
	run(0);
	check_sizes(1, 1);
	OK(starpu_parallel_worker_shutdown(c));
}

/* Policies of all kinds, also those that would combine workers themselves. */
static void every_policy(void)
{
	static const char *const names[] = { "lws",    "random",     "dmda",       "pheft",
					     "peager", "heteroprio", "graph_test", "modular-heft" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct starpu_parallel_worker_config *c = starpu_parallel_worker_init(
			HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB, 2,
			STARPU_PARALLEL_WORKER_POLICY_NAME, names[i], 0);
		CHECK(c != NULL, "%s", names[i]);
		run(1);
		check_sizes(2, 2);
		run(0);
		check_sizes(1, 1);
		OK(starpu_parallel_worker_shutdown(c));
	}
}

static int nsub;

static void sub_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK_IS(starpu_combined_worker_get_size(), 1);
	INCR(nsub);
}
static struct starpu_codelet sub_cl = { .cpu_funcs = { sub_kernel } };

static void outer_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK_IS(starpu_combined_worker_get_size(), NCPUS);
	OK(starpu_task_insert(&sub_cl, 0));
}
static struct starpu_codelet outer_cl = { .cpu_funcs = { outer_kernel } };

/* A policy of the program; tasks that its tasks submit, and a task that is submitted again. */
static void policy_of_program(void)
{
	struct starpu_task *task = starpu_task_create();
	struct starpu_parallel_worker_config *c = starpu_parallel_worker_init(
		HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_POLICY_STRUCT, &own_policy,
		STARPU_PARALLEL_WORKER_AWAKE_WORKERS, 1, 0);

	CHECK(c != NULL);
	task->cl = &outer_cl;
	task->possibly_parallel = 1;
	task->destroy = 0;
	task->detach = 0;
	for (int i = 0; i < 3; i++) {
		OK(starpu_task_submit(task));
		OK(starpu_task_wait(task));
		OK(starpu_task_wait_for_all_in_ctx(0));
		CHECK_IS(nsub, i + 1);
	}
	CHECK_IS(own_of(1)->npushed, 3);
	own_hold(1, 0, starpu_wake_worker_relax);
	OK(starpu_parallel_worker_shutdown(c));
	task->cl = &sub_cl;
	OK(starpu_task_submit(task));
	OK(starpu_task_wait(task));
	CHECK_IS(nsub, 4);
	starpu_task_destroy(task);
}

static void refused(void)
{
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_POLICY_STRUCT,
					   NULL, 0));
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_AWAKE_WORKERS,
					   2, 0));
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_PREFERE_MIN, 1,
					   0));
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NB, NCPUS + 1,
					   0));
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_NEW,
					   STARPU_PARALLEL_WORKER_NCORES, NCPUS + 1, 0));
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, 12345, 0));
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, STARPU_PARALLEL_WORKER_POLICY_NAME,
					   "none such", 0));
	CHECK_IS(starpu_parallel_worker_print(NULL), -EINVAL);
}

int main(void)
{
	core_start(NCPUS, NULL);
	by_number();
	by_machine();
	by_size();
	priorities();
	policy_orders("eager", 0);
	policy_orders("prio", 1);
	every_policy();
	policy_of_program();
	refused();
	starpu_shutdown();
	CHECK(!starpu_parallel_worker_init(HWLOC_OBJ_MACHINE, 0));
	return 0;
}

#else

int main(void)
{
	return 77;
}

#endif
