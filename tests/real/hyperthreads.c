/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On a machine with two hardware threads in each core, STARPU_WORKERS_CPUID names hardware threads,
 * STARPU_WORKERS_COREID and the field workers_bindid name cores.
 *
 * Invariant: the machine is described, so nothing is bound. */
/* orr-test: devices none */
/* orr-test: env STARPU_NCPU=2 */
#include <errno.h>
#include <starpu.h>

#include "lib/test.h"

/* The system's processors that the two workers are bound to. */
static void expect(struct starpu_conf *conf, int first, int second)
{
	OK(starpu_init(conf));
	CHECK_IS(starpu_cpu_os_index(starpu_worker_get_bindid(0)), first);
	CHECK_IS(starpu_cpu_os_index(starpu_worker_get_bindid(1)), second);
	starpu_shutdown();
}

int main(void)
{
	struct starpu_conf conf;

	setenv("STARPU_HWLOC_INPUT", "core:2 pu:2", 1);
	if (starpu_init(NULL) == -EINVAL)
		return 77; /* built without hwloc */
	CHECK_IS(starpu_cpu_worker_get_count(), 2);
	starpu_shutdown();
	expect(NULL, 0, 2);
	setenv("STARPU_WORKERS_COREID", "1 0", 1);
	expect(NULL, 2, 0);
	setenv("STARPU_WORKERS_CPUID", "1 3", 1);
	expect(NULL, 1, 3);
	/* All of them. */
	setenv("STARPU_WORKERS_CPUID", "2-", 1);
	expect(NULL, 2, 3);
	OK(starpu_conf_init(&conf));
	conf.use_explicit_workers_bindid = 1;
	conf.workers_bindid[0] = 1;
	conf.workers_bindid[1] = 0;
	expect(&conf, 2, 0);
	return 0;
}
