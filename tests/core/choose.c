/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who executes a task: several implementations, can_execute, a given worker, sets of workers,
 * places, order on a worker.
 *
 * Invariant: a task never runs on a worker, or with an implementation, that was excluded. */
#include "core_test.h"

#include <errno.h>

#define WORKERS 3

static int runs[2];

static void first(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(runs[0]);
}
static void second(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(runs[1]);
}

static int only_second(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	CHECK(workerid < WORKERS && task != NULL);
	return nimpl == 1;
}

static int never(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	(void) workerid;
	(void) task;
	(void) nimpl;
	return 0;
}

static void implementations(void)
{
	static struct starpu_codelet any = { .cpu_funcs = { first, second } };
	static struct starpu_codelet choosy = { .cpu_funcs = { first, second },
						.can_execute = only_second };
	static struct starpu_codelet old = { .cpu_func = STARPU_MULTIPLE_CPU_IMPLEMENTATIONS,
					     .cpu_funcs = { first } };
	static struct starpu_codelet older = { .where = STARPU_CPU, .cpu_func = first };
	static struct starpu_codelet none = { .cpu_funcs = { first }, .can_execute = never };
	static struct starpu_codelet empty = { .name = "empty" };
	static struct starpu_codelet gpu = { .where = STARPU_CUDA, .cpu_funcs = { first } };
	struct starpu_task *task;

	for (int i = 0; i < 30; i++)
		CHECK_IS(starpu_task_insert(&any, 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(runs[0] + runs[1], 30);
	runs[0] = runs[1] = 0;
	for (int i = 0; i < 30; i++)
		CHECK_IS(starpu_task_insert(&choosy, 0), 0);
	starpu_task_wait_for_all();
	CHECK(runs[0] == 0 && runs[1] == 30);
	runs[1] = 0;
	CHECK_IS(starpu_task_insert(&old, 0), 0);
	CHECK_IS(starpu_task_insert(&older, 0), 0);
	starpu_task_wait_for_all();
	CHECK(runs[0] == 2 && runs[1] == 0);
	runs[0] = 0;
	task = starpu_task_build(&any, 0);
	starpu_task_set_implementation(task, 1);
	CHECK_IS(starpu_task_get_implementation(task), 1);
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	CHECK(runs[0] == 0 && runs[1] == 1);
	/* Nobody can: the task is not taken, and stays the program's. */
	CHECK_IS(starpu_task_insert(&none, 0), -ENODEV);
	CHECK_IS(starpu_task_insert(&empty, 0), -ENODEV);
	CHECK_IS(starpu_task_insert(&gpu, 0), -ENODEV);
	CHECK_IS(
		starpu_task_insert(&any, STARPU_EXECUTE_WHERE, (unsigned long long) STARPU_CUDA, 0),
		-ENODEV);
	task = starpu_task_build(&any, STARPU_EXECUTE_ON_WORKER, WORKERS + 5, 0);
	CHECK_IS(starpu_task_submit(task), -ENODEV);
	task->execute_on_a_specific_worker = 0;
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	CHECK_IS(starpu_task_nsubmitted(), 0);
}

static int per_worker[WORKERS], wrong;

static void on_worker(void *buffers[], void *arg)
{
	unsigned me = starpu_worker_get_id_check();
	int want = (int) (intptr_t) arg;

	(void) buffers;
	CHECK_IS(starpu_task_get_current()->workerid, me);
	CHECK_IS(starpu_worker_get_id(), me);
	INCR(per_worker[me]);
	if (want >= 0 && (int) me != want)
		INCR(wrong);
	if (want < 0 && !(-want & (1 << me)))
		INCR(wrong);
}

static struct starpu_codelet where_cl = { .cpu_funcs = { on_worker } };

static void workers(void)
{
	uint32_t set = 5; /* workers 0 and 2 */

	for (int i = 0; i < 60; i++)
		CHECK_IS(starpu_task_insert(&where_cl, STARPU_EXECUTE_ON_WORKER, i % WORKERS,
					    STARPU_CL_ARGS_NFREE, (void *) (intptr_t) (i % WORKERS),
					    sizeof(int), 0),
			 0);
	starpu_task_wait_for_all();
	CHECK_IS(wrong, 0);
	for (int i = 0; i < WORKERS; i++) {
		CHECK_IS(per_worker[i], 20);
		per_worker[i] = 0;
	}
	for (int i = 0; i < 60; i++)
		CHECK_IS(starpu_task_insert(&where_cl, STARPU_TASK_WORKERIDS, 1u, &set,
					    STARPU_CL_ARGS_NFREE, (void *) (intptr_t) -5,
					    sizeof(int), 0),
			 0);
	starpu_task_wait_for_all();
	CHECK(wrong == 0 && per_worker[1] == 0 && per_worker[0] + per_worker[2] == 60);
}

static int order[20], norder;

static void record(void *buffers[], void *arg)
{
	(void) buffers;
	order[norder++] = (int) (intptr_t) arg; /* one worker only */
}

/* Tasks for one worker, submitted backwards, run in the order that they ask for. */
static void worker_order(void)
{
	static struct starpu_codelet cl = { .cpu_funcs = { record } };

	for (int i = 20; i > 0; i--)
		CHECK_IS(starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, 1, STARPU_WORKER_ORDER,
					    (unsigned) i, STARPU_CL_ARGS_NFREE,
					    (void *) (intptr_t) i, sizeof(int), 0),
			 0);
	starpu_task_wait_for_all();
	CHECK_IS(norder, 20);
	for (int i = 0; i < 20; i++)
		CHECK_IS(order[i], i + 1);
}

/* A task that runs nowhere orders accesses all the same. */
static void nowhere(void)
{
	static struct starpu_codelet cl = { .where = STARPU_NOWHERE,
					    .nbuffers = 1,
					    .modes = { STARPU_RW } };
	int x = 5;
	starpu_data_handle_t h = core_register(&x);
	struct starpu_task *task = starpu_task_create_sync(h, STARPU_RW);

	CHECK_IS(starpu_task_insert(&cl, STARPU_RW, h, 0), 0);
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_insert(&where_cl, STARPU_EXECUTE_WHERE,
				    (unsigned long long) STARPU_NOWHERE, 0),
		 0);
	starpu_data_unregister(h);
	starpu_task_wait_for_all();
	CHECK_IS(x, 5);
}

/* A kind of units that the codelet has no implementation for is refused, although there are such
 * units. */
static void not_for_devices(void)
{
	static struct starpu_codelet cpu = { .cpu_funcs = { first } },
				     gpu = { .where = STARPU_CUDA, .cpu_funcs = { first } };
	struct starpu_task *task;
	struct starpu_conf conf;

	test_devices(1);
	OK(starpu_conf_init(&conf));
	conf.ncpus = 1;
	OK(starpu_init(&conf));
	CHECK_IS(starpu_cuda_worker_get_count(), 1);
	CHECK_IS(starpu_task_insert(&gpu, 0), -ENODEV);
	CHECK_IS(
		starpu_task_insert(&cpu, STARPU_EXECUTE_WHERE, (unsigned long long) STARPU_CUDA, 0),
		-ENODEV);
	task = starpu_task_build(&cpu, 0);
	starpu_task_set_implementation(task, 1);
	CHECK_IS(starpu_task_submit(task), -ENODEV);
	starpu_task_set_implementation(task, 0);
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_shutdown();
}

int main(void)
{
	core_start(WORKERS, NULL);
	implementations();
	workers();
	worker_order();
	nowhere();
	starpu_shutdown();
	not_for_devices();
	return 0;
}
