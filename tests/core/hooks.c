/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hooks of idle workers, tasks counted by codelet and worker, the notification of policies, and
 * calls that do nothing without devices.
 *
 * Invariant: nothing here depends on how fast anything is. */
#include "core_test.h"

#include <errno.h>
#include <starpu_cublas.h>
#include <starpu_cublasLt.h>
#include <starpu_cusolver.h>
#include <starpu_expert.h>
#include <starpu_hipblas.h>

#define N 60

static int ran, called, idle_called, stop, in_worker, notified[3];
static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel }, .name = "counted" };

/* Polls until it has been called often enough, then lets the workers sleep. */
static unsigned poll_hook(void *arg)
{
	CHECK(arg == &called);
	if (starpu_worker_get_id() >= 0)
		STORE(in_worker, 1);
	return INCR(called) >= 100 || LOAD(stop);
}

static unsigned idle_hook(void *arg)
{
	(void) arg;
	INCR(idle_called);
	return 1;
}

/* A hook may submit: the task runs, and the program may wait for it. */
static unsigned submitting_hook(void *arg)
{
	static int done;

	if (INCR(done) == 1)
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, arg, sizeof(int), 0), 0);
	return 1;
}

static void hooks(void)
{
	int a, b, c;

	CHECK_IS(starpu_progression_hook_register(NULL, NULL), -EINVAL);
	a = starpu_progression_hook_register(poll_hook, &called);
	core_start(2, NULL);
	b = starpu_idle_hook_register(idle_hook, NULL);
	CHECK(a >= 0 && b >= 0 && a != b);
	while (LOAD(called) < 100)
		starpu_usleep(100);
	CHECK(LOAD(in_worker));
	while (!LOAD(idle_called))
		starpu_usleep(100);
	STORE(stop, 1);
	ran = 0;
	c = starpu_progression_hook_register(submitting_hook, &ran);
	CHECK(c >= 0);
	while (!LOAD(ran))
		starpu_usleep(100);
	starpu_task_wait_for_all();
	CHECK_IS(ran, 1);
	starpu_progression_hook_deregister(c);
	starpu_progression_hook_deregister(a);
	starpu_idle_hook_deregister(b);
	CHECK_IS(starpu_idle_hook_register(idle_hook, NULL),
		 a); /* places are used again; shutdown drops it */
	starpu_shutdown();
}

static void stats(void)
{
	unsigned long sum = 0;

	core_start(3, "eager");
	ran = 0;
	for (int i = 0; i < 3; i++)
		cl.per_worker_stats[i] = 0;
	for (int i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0), 0);
	for (int i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
					    STARPU_EXECUTE_ON_WORKER, 1, 0),
			 0);
	starpu_task_wait_for_all();
	for (int i = 0; i < 3; i++)
		sum += cl.per_worker_stats[i];
	CHECK_IS(sum, 2 * N);
	CHECK(cl.per_worker_stats[1] >= N);
	starpu_codelet_display_stats(&cl);
	starpu_shutdown();
	setenv("STARPU_CODELET_PROFILING", "0", 1);
	core_start(1, NULL);
	sum = cl.per_worker_stats[0];
	CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(cl.per_worker_stats[0], sum);
	starpu_shutdown();
	unsetenv("STARPU_CODELET_PROFILING");
}

/* --- a policy that is told of tasks that it never gets --- */

static int push(struct starpu_task *task)
{
	return starpu_push_local_task(0, task, 1);
}
static struct starpu_task *pop(unsigned ctx)
{
	(void) ctx;
	return NULL;
}

static void notify(struct starpu_task *task, int workerid, int perf_workerid, unsigned ctx)
{
	CHECK(task->execute_on_a_specific_worker && (int) task->workerid == workerid &&
	      perf_workerid == workerid);
	CHECK_IS(ctx, 0);
	INCR(notified[workerid]);
}

static void notification(void)
{
	static struct starpu_sched_policy policy = { .push_task = push,
						     .pop_task = pop,
						     .push_task_notify = notify,
						     .policy_name = "told" };
	struct starpu_conf conf;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 3;
	conf.sched_policy = &policy;
	CHECK_IS(starpu_init(&conf), 0);
	ran = 0;
	for (int i = 0; i < N; i++) {
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0), 0);
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
					    STARPU_EXECUTE_ON_WORKER, i % 3, 0),
			 0);
	}
	starpu_task_wait_for_all();
	CHECK_IS(ran, 2 * N);
	for (int i = 0; i < 3; i++)
		CHECK_IS(notified[i], N / 3);
	starpu_shutdown();
}

static void libraries(void)
{
	core_start(1, NULL);
	starpu_cublas_init();
	starpu_cublasLt_init();
	starpu_cusparse_init();
	starpu_cusolver_init();
	starpu_hipblas_init();
	starpu_cublas_set_stream();
	starpu_hipblas_shutdown();
	starpu_cusolver_shutdown();
	starpu_cusparse_shutdown();
	starpu_cublasLt_shutdown();
	starpu_cublas_shutdown();
	starpu_shutdown();
}

int main(void)
{
	hooks();
	stats();
	notification();
	libraries();
	return 0;
}
