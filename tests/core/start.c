/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* Starting and stopping: repeated, nested, without workers, numbers of workers by field and by
 * variable, wrong configurations.
 *
 * Invariant: after every refusal, and after every shutdown, the runtime can be started again. */
#include "core_test.h"

#include <errno.h>
#include <string.h>

static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel } };

static void some_tasks(void)
{
	int n = 0;

	for (int i = 0; i < 20; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &n, sizeof(n), 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(n, 20);
}

static void repeated(void)
{
	for (int i = 0; i < 10; i++) {
		CHECK(!starpu_is_initialized());
		core_start(1 + i % 3, NULL);
		CHECK(starpu_is_initialized());
		starpu_wait_initialized();
		starpu_worker_wait_for_initialisation();
		some_tasks();
		starpu_shutdown();
	}
}

/* Shutdown itself waits for tasks. */
static void shutdown_waits(void)
{
	int n = 0;

	core_start(2, NULL);
	for (int i = 0; i < 200; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &n, sizeof(n), 0), 0);
	starpu_shutdown();
	CHECK_IS(n, 200);
}

static void nested(void)
{
	int argc = 0, major, minor, release;

	core_start(1, NULL);
	CHECK_IS(starpu_init(NULL), 0);
	CHECK_IS(starpu_initialize(NULL, &argc, NULL), 0);
	starpu_shutdown();
	starpu_shutdown();
	some_tasks();
	starpu_get_version(&major, &minor, &release);
	CHECK(major == STARPU_MAJOR_VERSION && minor == STARPU_MINOR_VERSION);
	starpu_shutdown();
	CHECK(!starpu_is_initialized());
}

/* A start without workers is refused, whoever asks for it, and leaves nothing running. */
static void no_workers(void)
{
	struct starpu_conf conf;

	memset(&conf, 0, sizeof(conf));
	CHECK_IS(starpu_conf_noworker(&conf), 0);
	CHECK_IS(starpu_init(&conf), -ENODEV);
	CHECK(!starpu_is_initialized());
	CHECK_IS(starpu_worker_get_count(), 0);
	setenv("STARPU_NCPU", "0", 1);
	CHECK_IS(starpu_init(NULL), -ENODEV);
	CHECK(!starpu_is_initialized());
	conf.ncpus = 2;
	CHECK_IS(starpu_init(&conf), -ENODEV);
	conf.precedence_over_environment_variables = 1;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK_IS(starpu_cpu_worker_get_count(), 2);
	some_tasks();
	starpu_shutdown();
	/* Fields that were set stay as they are. */
	setenv("STARPU_NCPU", "3", 1);
	CHECK_IS(starpu_conf_noworker(&conf), 0);
	CHECK_IS(starpu_init(&conf), -ENODEV);
	unsetenv("STARPU_NCPU");
	conf.precedence_over_environment_variables = 0;
	conf.ncpus = 2;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK_IS(starpu_cpu_worker_get_count(), 2);
	some_tasks();
	starpu_shutdown();
}

static void by_variable(void)
{
	struct starpu_conf conf;

	CHECK_IS(starpu_conf_init(&conf), 0);
	setenv("STARPU_NCPU", "3", 1);
	CHECK_IS(starpu_init(NULL), 0);
	CHECK_IS(starpu_cpu_worker_get_count(), 3);
	some_tasks();
	starpu_shutdown();
	conf.ncpus = 1;
	conf.precedence_over_environment_variables = 1;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK_IS(starpu_cpu_worker_get_count(), 1);
	starpu_shutdown();
	unsetenv("STARPU_NCPU");
	setenv("STARPU_NCPUS", "2", 1); /* the old spelling */
	CHECK_IS(starpu_init(NULL), 0);
	CHECK_IS(starpu_cpu_worker_get_count(), 2);
	starpu_shutdown();
	unsetenv("STARPU_NCPUS");
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	CHECK_IS(starpu_init(NULL), 0);
	CHECK(starpu_cpu_worker_get_count() >= 1);
	for (unsigned i = 0; i < starpu_cpu_worker_get_count(); i++)
		CHECK_IS(starpu_worker_get_bindid((int) i), -1);
	some_tasks();
	starpu_shutdown();
	unsetenv("STARPU_WORKERS_NOBIND");
}

static void copies_and_models(void)
{
	struct starpu_perfmodel_arch *arch[2];
	struct starpu_conf conf;
	int same, i, n, ids[4];

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.disable_asynchronous_opencl_copy = 1;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK(starpu_asynchronous_opencl_copy_disabled() && !starpu_asynchronous_copy_disabled() &&
	      !starpu_asynchronous_cuda_copy_disabled());
	starpu_shutdown();
	setenv("STARPU_DISABLE_ASYNCHRONOUS_OPENCL_COPY", "0", 1);
	setenv("STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY", "1", 1);
	CHECK_IS(starpu_init(&conf), 0);
	CHECK(!starpu_asynchronous_opencl_copy_disabled() &&
	      starpu_asynchronous_cuda_copy_disabled());
	starpu_shutdown();
	conf.precedence_over_environment_variables = 1;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK(starpu_asynchronous_opencl_copy_disabled() &&
	      starpu_asynchronous_cuda_copy_disabled());
	starpu_shutdown();
	unsetenv("STARPU_DISABLE_ASYNCHRONOUS_OPENCL_COPY");
	unsetenv("STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY");
	setenv("STARPU_DISABLE_ASYNCHRONOUS_COPY", "1", 1);
	setenv("ORRERY_FAKE_OPENCL", "2", 1);
	for (same = 0; same < 2; same++) {
		setenv("STARPU_PERF_MODEL_HOMOGENEOUS_OPENCL", same ? "1" : "0", 1);
		CHECK_IS(starpu_init(NULL), 0);
		CHECK(starpu_asynchronous_opencl_copy_disabled() &&
		      starpu_asynchronous_mpi_ms_copy_disabled());
		n = (int) starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, ids, 4);
		CHECK_IS(n, 2);
		for (i = 0; i < n; i++)
			arch[i] = starpu_worker_get_perf_archtype(ids[i], 0);
		CHECK_IS(arch[0]->devices[0].devid == arch[1]->devices[0].devid, same);
		starpu_shutdown();
	}
	unsetenv("STARPU_PERF_MODEL_HOMOGENEOUS_OPENCL");
	unsetenv("STARPU_DISABLE_ASYNCHRONOUS_COPY");
	unsetenv("ORRERY_FAKE_OPENCL");
}

static void refused(void)
{
	struct starpu_conf conf = { 0 };

	CHECK_IS(starpu_conf_init(NULL), -EINVAL);
	CHECK_IS(starpu_init(&conf), -EINVAL); /* starpu_conf_init was forgotten */
	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 1000000;
	CHECK_IS(starpu_init(&conf), -EINVAL);
	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.sched_policy_name = "nonsense";
	CHECK_IS(starpu_init(&conf), -EINVAL);
	setenv("STARPU_NCPU", "many", 1);
	CHECK_IS(starpu_init(NULL), -EINVAL);
	setenv("STARPU_NCPU", "-7", 1);
	CHECK_IS(starpu_init(NULL), -EINVAL);
	unsetenv("STARPU_NCPU");
	setenv("STARPU_WORKERS_CPUID", "0 x", 1);
	CHECK_IS(starpu_init(NULL), -EINVAL);
	unsetenv("STARPU_WORKERS_CPUID");
	setenv("STARPU_PREFETCH", "maybe", 1);
	CHECK_IS(starpu_init(NULL), -EINVAL);
	unsetenv("STARPU_PREFETCH");
	CHECK(starpu_task_create() == NULL); /* not started */
	repeated();
}

int main(void)
{
	repeated();
	shutdown_waits();
	nested();
	no_workers();
	by_variable();
	copies_and_models();
	refused();
	return 0;
}
