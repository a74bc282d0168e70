/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The launcher's binding is respected: a process bound to one core has one worker, there, and
 * STARPU_WORKERS_GETBIND=0 lifts that. A later start sees the same cores, whatever was bound in
 * between.
 *
 * Invariant: needs two cores, else skipped. */
#include <sched.h>
#include <starpu.h>

#include "lib/test.h"

static void where_am_i(void *arg)
{
	*(int *) arg = sched_getcpu();
}

int main(void)
{
	cpu_set_t all, one;
	int first = -1, ran_on = -1;
	unsigned unit;

	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
		return 77;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned) cpu, &all))
			first = cpu;
	CPU_ZERO(&one);
	CPU_SET((unsigned) first, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);

	if (test_skips(starpu_init(NULL)))
		return 77;
	CHECK(starpu_cpu_worker_get_count() == 1);
	CHECK(starpu_cpu_os_index(starpu_worker_get_bindid(0)) == first);
	starpu_execute_on_each_worker(where_am_i, &ran_on, STARPU_CPU);
	CHECK(ran_on == first);
	/* The only core is the worker's: nothing is left for a thread that computes. */
	CHECK(starpu_get_next_bindid(STARPU_THREAD_ACTIVE, NULL, 0) == (unsigned) -1);
	CHECK(starpu_bind_thread_on(starpu_worker_get_bindid(0), STARPU_THREAD_ACTIVE, "test") ==
	      -1);
	starpu_shutdown();

	CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
	setenv("STARPU_NCPU", "1", 1);
	if (test_skips(starpu_init(NULL)))
		return 77;
	unit = starpu_get_next_bindid(STARPU_THREAD_ACTIVE, NULL, 0);
	CHECK(unit != (unsigned) -1 && (int) unit != starpu_worker_get_bindid(0));
	CHECK(starpu_bind_thread_on((int) unit, STARPU_THREAD_ACTIVE, "test") == 0);
	CHECK(sched_getcpu() == starpu_cpu_os_index((int) unit));
	CHECK(starpu_bind_thread_on((int) unit, STARPU_THREAD_ACTIVE, "second") == -1);
	starpu_shutdown();
	CHECK(sched_getaffinity(0, sizeof(one), &one) == 0 && CPU_EQUAL(&one, &all));

	CPU_ZERO(&one);
	CPU_SET((unsigned) first, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	unsetenv("STARPU_NCPU");
	setenv("STARPU_WORKERS_GETBIND", "0", 1);
	if (test_skips(starpu_init(NULL)))
		return 77;
	CHECK(starpu_cpu_worker_get_count() >= 2);
	starpu_shutdown();
	return 0;
}
