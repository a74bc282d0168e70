/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_MAIN_THREAD_BIND keeps a unit for the thread that starts the runtime and binds it there
 * until the end; _CPUID and _COREID say which. No worker is put there.
 *
 * Invariant: needs two cores, else skipped. */
#include <sched.h>
#include <starpu.h>

#include "lib/test.h"

static int bound_to_one(void)
{
	cpu_set_t now;

	CHECK(sched_getaffinity(0, sizeof(now), &now) == 0);
	return CPU_COUNT(&now) == 1 ? sched_getcpu() : -1;
}

/* One run; unit: where the main thread must be, -1: not bound, -2: wherever. Returns where it is.
 */
static int run(int unit, unsigned ncpus)
{
	int at;

	if (test_skips(starpu_init(NULL)))
		exit(77);
	at = bound_to_one();
	CHECK(unit == -2 ? at >= 0 : unit == -1 ? at == -1 : at == starpu_cpu_os_index(unit));
	CHECK(starpu_cpu_worker_get_count() == ncpus);
	for (unsigned w = 0; at >= 0 && w < starpu_worker_get_count(); w++)
		CHECK(starpu_cpu_os_index(starpu_worker_get_bindid((int) w)) != at);
	starpu_shutdown();
	CHECK(bound_to_one() == -1);
	return at;
}

int main(void)
{
	cpu_set_t all;

	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
		return 77;
	if (test_skips(starpu_init(NULL)))
		return 77;
	unsigned n = starpu_cpu_worker_get_count();
	int first = starpu_worker_get_bindid(0);

	starpu_shutdown();
	if (n < 2)
		return 77;
	run(-1, n);
	setenv("STARPU_MAIN_THREAD_BIND", "1", 1);
	CHECK(run(-2, n - 1) >= 0);
	unsetenv("STARPU_MAIN_THREAD_BIND");
	char text[16];
	snprintf(text, sizeof(text), "%d", first);
	setenv("STARPU_MAIN_THREAD_COREID", text, 1);
	run(first, n - 1);
	setenv("STARPU_MAIN_THREAD_CPUID", text, 1);
	setenv("STARPU_MAIN_THREAD_COREID", "1000", 1);
	run(first, n - 1);
	return 0;
}
