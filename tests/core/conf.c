/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fields of struct starpu_conf: callbacks of workers that sleep and wake, the range of priorities
 * of the default context.
 *
 * Invariant: for each worker, going to sleep and waking up alternate, and a kernel runs while its
 * worker is awake. */
#include "core_test.h"

#include <errno.h>
#include <limits.h>

#define NCPUS 3

static int asleep[NCPUS], nsleeps[NCPUS], nruns, set_late;

static void sleeps(unsigned workerid)
{
	CHECK(workerid < NCPUS);
	CHECK_IS(starpu_worker_get_id(), (int) workerid);
	CHECK_IS(asleep[workerid], 0);
	asleep[workerid] = 1;
	INCR(nsleeps[workerid]);
}

static void wakes(unsigned workerid)
{
	CHECK(workerid < NCPUS);
	/* One that slept between the two settings said nothing of it. */
	if (set_late && !nsleeps[workerid])
		return;
	CHECK_IS(asleep[workerid], 1);
	asleep[workerid] = 0;
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK_IS(asleep[starpu_worker_get_id()], 0);
	INCR(nruns);
	starpu_usleep(100);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel } };

static int all_slept(int n)
{
	for (int i = 0; i < NCPUS; i++)
		if (LOAD(nsleeps[i]) < n)
			return 0;
	return 1;
}

static void wait_asleep(int n)
{
	for (int i = 0; !all_slept(n); i++) {
		CHECK(i < 5000, "workers never sleep");
		starpu_usleep(1000);
	}
}

static void rounds(void)
{
	for (int i = 1; i < 4; i++) {
		wait_asleep(i);
		for (int k = 0; k < NCPUS; k++)
			OK(starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, k, 0));
		OK(starpu_task_wait_for_all());
	}
	CHECK_IS(nruns, 3 * NCPUS);
}

static void start(struct starpu_conf *conf)
{
	conf->ncpus = NCPUS;
	conf->ncuda = conf->nopencl = 0;
	OK(starpu_init(conf));
}

static void napping(int by_field)
{
	struct starpu_conf conf;

	nruns = 0;
	set_late = !by_field;
	for (int i = 0; i < NCPUS; i++)
		asleep[i] = nsleeps[i] = 0;
	OK(starpu_conf_init(&conf));
	if (by_field) {
		conf.callback_worker_going_to_sleep = sleeps;
		conf.callback_worker_waking_up = wakes;
	}
	start(&conf);
	if (!by_field) {
		/* Workers that sleep already say nothing of it. */
		starpu_worker_set_waking_up_callback(wakes);
		starpu_worker_set_going_to_sleep_callback(sleeps);
		for (int k = 0; k < NCPUS; k++)
			OK(starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, k, 0));
		OK(starpu_task_wait_for_all());
		nruns = 0;
	}
	rounds();
	starpu_shutdown();
	for (int i = 0; i < NCPUS; i++)
		CHECK_IS(asleep[i], 0);
}

static void check_prios(const char *policy, int min, int max, int is_min, int is_max)
{
	struct starpu_conf conf;

	OK(starpu_conf_init(&conf));
	conf.sched_policy_name = policy;
	conf.global_sched_ctx_min_priority = min;
	conf.global_sched_ctx_max_priority = max;
	start(&conf);
	CHECK_IS(starpu_sched_get_min_priority(), is_min);
	CHECK_IS(starpu_sched_get_max_priority(), is_max);
	starpu_shutdown();
}

static void priorities(void)
{
	struct starpu_conf conf;

	check_prios("prio", -3, 7, -3, 7);
	check_prios("prio", -1, -1, INT_MIN, INT_MAX);
	check_prios("prio", INT_MIN, 5, INT_MIN, 5);
	check_prios("prio", -1, 5, -1, 5);
	check_prios("eager", -2, 2, -2, 2);
	setenv("STARPU_MAX_PRIO", "9", 1);
	check_prios("lws", -3, 7, -3, 9);
	unsetenv("STARPU_MAX_PRIO");
	OK(starpu_conf_init(&conf));
	conf.global_sched_ctx_min_priority = 8;
	conf.global_sched_ctx_max_priority = 7;
	conf.ncpus = 1;
	CHECK_IS(starpu_init(&conf), -EINVAL);
}

int main(void)
{
	napping(1);
	napping(0);
	priorities();
	return 0;
}
