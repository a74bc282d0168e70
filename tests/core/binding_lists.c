/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The units that threads are bound to where somebody names them: STARPU_WORKERS_CPUID and
 * STARPU_WORKERS_COREID give them to devices of CUDA, to those of OpenCL and to workers of CPUs, in
 * this order and in turn; the field workers_bindid gives one to each worker.
 *
 * Invariant: the machine has four units, in the real world too, where it is described and nothing
 * is bound (tests/cuda/beside.sh and tests/real/binding.c bind). */
/* orr-test: env ORRERY_FAKE_DEVICES=1 ORRERY_FAKE_OPENCL=1 STARPU_NCPU=2 */
/* orr-test: sim-args --cpus 4 */
#include "core_test.h"

#include <errno.h>

static void is_on(enum starpu_worker_archtype type, int i, int unit)
{
	int worker = starpu_worker_get_by_type(type, i);

	CHECK_IS(starpu_worker_get_bindid(worker), unit);
	CHECK_IS(starpu_worker_get_range_by_id(worker), i);
}

/* Those of the device of CUDA, of the one of OpenCL, and of two workers of CPUs. */
static void expect(int cuda, int opencl, int cpu0, int cpu1)
{
	OK(starpu_init(NULL));
	CHECK_IS(starpu_worker_get_count(), 4);
	is_on(STARPU_CUDA_WORKER, 0, cuda);
	is_on(STARPU_OPENCL_WORKER, 0, opencl);
	is_on(STARPU_CPU_WORKER, 0, cpu0);
	is_on(STARPU_CPU_WORKER, 1, cpu1);
	starpu_shutdown();
}

static void lists(void)
{
	setenv("STARPU_WORKERS_COREID", "0 2 1 3", 1);
	expect(0, 2, 1, 3);
	setenv("STARPU_WORKERS_CPUID", "3-1", 1);
	CHECK_IS(starpu_init(NULL), -EINVAL);
	setenv("STARPU_WORKERS_CPUID", "3 1-2", 1);
	expect(3, 1, 2, 3);
	setenv("STARPU_WORKERS_CPUID", "2-", 1);
	expect(2, 3, 2, 3);
	setenv("STARPU_WORKERS_CPUID", "1", 1);
	expect(1, 1, 1, 1);
	setenv("STARPU_NOPENCL", "0", 1);
	setenv("STARPU_WORKERS_CPUID", "0 2 1 3", 1);
	OK(starpu_init(NULL));
	is_on(STARPU_CUDA_WORKER, 0, 0);
	is_on(STARPU_CPU_WORKER, 0, 2);
	is_on(STARPU_CPU_WORKER, 1, 1);
	starpu_shutdown();
	unsetenv("STARPU_NOPENCL");
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	expect(-1, -1, -1, -1);
	unsetenv("STARPU_WORKERS_NOBIND");
}

/* The field counts before the variable, whatever has precedence otherwise. */
static void field(void)
{
	static const unsigned unit[] = { 3, 0, 2, 1 };

	setenv("STARPU_WORKERS_CPUID", "0", 1);
	for (int precedence = 0; precedence < 2; precedence++) {
		struct starpu_conf conf;

		OK(starpu_conf_init(&conf));
		conf.precedence_over_environment_variables = precedence;
		conf.ncpus = 2;
		conf.use_explicit_workers_bindid = 1;
		for (int i = 0; i < 4; i++)
			conf.workers_bindid[i] = unit[i];
		OK(starpu_init(&conf));
		CHECK_IS(starpu_worker_get_count(), 4);
		for (int i = 0; i < 4; i++)
			CHECK_IS(starpu_worker_get_bindid(i), unit[i]);
		starpu_shutdown();
	}
}

int main(void)
{
	setenv("STARPU_HWLOC_INPUT", "core:4 pu:1", 1);
	if (starpu_init(NULL) == -EINVAL)
		return 77; /* built without hwloc */
	starpu_shutdown();
	/* Nobody knows where these devices are. */
	expect(-1, -1, 0, 1);
	lists();
	field();
	return 0;
}
