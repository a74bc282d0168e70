/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Order of ready tasks on one worker: by priority under policies that know priorities, then by age;
 * by age only under eager.
 *
 * Tasks become ready while the workers pause, so that the policy has all of them to choose from.
 *
 * Invariant: that order, exactly. */
#include "core_test.h"

#define N 60

static int order[N], norder;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	order[norder++] = (int) (intptr_t) arg;
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel } };

static void run(const char *policy, int by_priority)
{
	int expected = 0;

	core_start(1, policy);
	norder = 0;
	starpu_pause();
	starpu_usleep(2000);
	for (int i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_PRIORITY, i % 5 - 2, STARPU_CL_ARGS_NFREE,
					    (void *) (intptr_t) i, sizeof(int), 0),
			 0);
	starpu_resume();
	starpu_task_wait_for_all();
	CHECK_IS(norder, N);
	if (!by_priority) {
		for (int i = 0; i < N; i++)
			CHECK_IS(order[i], i);
	} else {
		for (int prio = 2; prio >= -2; prio--)
			for (int i = prio + 2; i < N; i += 5)
				CHECK_IS(order[expected++], i);
	}
	CHECK(starpu_sched_get_min_priority() <= STARPU_DEFAULT_PRIO &&
	      STARPU_DEFAULT_PRIO <= starpu_sched_get_max_priority());
	CHECK(!by_priority || STARPU_MAX_PRIO > STARPU_MIN_PRIO);
	starpu_shutdown();
}

int main(void)
{
	run("eager", 0);
	run("prio", 1);
	run("lws", 1);
	return 0;
}
