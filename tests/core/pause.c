/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pausing the workers; throttled submission.
 *
 * Invariant: between starpu_pause and starpu_resume no task starts; submission never lets more than
 * the limit be pending. */
#include "core_test.h"

static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel } };
static int ran;

static void insert(int n)
{
	/* Some are for one worker alone. */
	while (n-- > 0)
		CHECK_IS(n % 3 ? starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0)
			       : starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
						    STARPU_EXECUTE_ON_WORKER, 0, 0),
			 0);
}

static void pausing(void)
{
	core_start(2, NULL);
	for (int i = 0; i < 5; i++) {
		ran = 0;
		starpu_pause();
		CHECK(starpu_is_paused());
		starpu_usleep(1000); /* a worker may have been about to look for a task */
		insert(50);
		starpu_usleep(5000);
		CHECK_IS(LOAD(ran), 0);
		starpu_resume();
		CHECK(!starpu_is_paused());
		starpu_task_wait_for_all();
		CHECK_IS(ran, 50);
	}
	/* It nests. */
	starpu_pause();
	starpu_pause();
	starpu_resume();
	CHECK(starpu_is_paused());
	starpu_usleep(1000);
	insert(10);
	starpu_usleep(2000);
	CHECK_IS(LOAD(ran), 50);
	starpu_resume();
	starpu_task_wait_for_all();
	CHECK_IS(ran, 60);
	/* Shutdown ends a pause. */
	starpu_pause();
	insert(1);
	starpu_shutdown();
	CHECK_IS(ran, 61);
}

static void count_pending(int max)
{
	for (int i = 0; i < 500; i++) {
		insert(1);
		CHECK(starpu_task_nsubmitted() <= max);
	}
	starpu_task_wait_for_all();
}

static void limit_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	starpu_set_limit_max_submitted_tasks(*(int *) arg);
	starpu_set_limit_min_submitted_tasks(*(int *) arg / 2);
}

static struct starpu_codelet limit_cl = { .cpu_funcs = { limit_kernel } };

static void throttling(void)
{
	static int limits[] = { 10, -1, 3 };

	setenv("STARPU_LIMIT_MAX_SUBMITTED_TASKS", "10", 1);
	setenv("STARPU_LIMIT_MIN_SUBMITTED_TASKS", "5", 1);
	core_start(2, NULL);
	ran = 0;
	count_pending(10);
	CHECK_IS(ran, 500);
	starpu_set_limit_max_submitted_tasks(3);
	starpu_set_limit_min_submitted_tasks(1);
	count_pending(3);
	/* Tasks may change it while others are submitted. */
	for (int i = 0; i < 50; i++)
		CHECK_IS(starpu_task_insert(&limit_cl, STARPU_CL_ARGS_NFREE, &limits[i % 3],
					    sizeof(int), 0),
			 0);
	starpu_task_wait_for_all();
	starpu_set_limit_max_submitted_tasks(-1);
	insert(100);
	starpu_shutdown();
	CHECK_IS(ran, 1100);
	unsetenv("STARPU_LIMIT_MAX_SUBMITTED_TASKS");
	unsetenv("STARPU_LIMIT_MIN_SUBMITTED_TASKS");
}

int main(void)
{
	pausing();
	throttling();
	return 0;
}
