/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An idle worker is not forgotten: it may have been about to sleep when somebody meant to wake it,
 * and another worker took the task. In each round a few tasks come, and workers fall asleep; then
 * two tasks come that need each other, so that two workers have to execute them.
 * orr-test: env STARPU_SCHED=eager STARPU_WORKERS_NOBIND=1 */
#include <starpu.h>

#include <stdlib.h>
#include <unistd.h>

#include "lib/test.h"

#define ROUNDS 3000
#define PATIENCE_US 30000000

static unsigned here; /* atomic: tasks of the pair that run */

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static void meets(void *buffers[], void *arg)
{
	double since = starpu_timing_now();

	(void) buffers;
	(void) arg;
	__atomic_add_fetch(&here, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&here, __ATOMIC_ACQUIRE) < 2) {
		if (starpu_timing_now() - since > PATIENCE_US) {
			CHECK(!"a worker sleeps although a task waits for it");
			return;
		}
		sched_yield();
	}
}

static struct starpu_codelet small = { .cpu_funcs = { nothing }, .name = "small" };
static struct starpu_codelet pair = { .cpu_funcs = { meets }, .name = "pair" };

int main(void)
{
	struct starpu_conf conf;

	OK(starpu_conf_init(&conf));
	conf.ncpus = 2;
	if (test_skips(starpu_init(&conf)))
		return 77;
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (unsigned j = 0; j < i % 4; j++)
			OK(starpu_task_insert(&small, 0));
		if (i & 4)
			OK(starpu_task_wait_for_all());
		here = 0;
		OK(starpu_task_insert(&pair, 0));
		OK(starpu_task_insert(&pair, 0));
		OK(starpu_task_wait_for_all());
	}
	starpu_shutdown();
	printf("%u pairs met\n", ROUNDS);
	return 0;
}
