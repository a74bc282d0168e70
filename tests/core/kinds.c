/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env ORRERY_FAKE_DEVICES=2 */
/* Tasks that units of one kind only can execute, one at a time, under the policies that keep a
 * queue for all units.
 *
 * Workers of both kinds are woken, and one that cannot execute the task may be the first to look at
 * the queue. Invariant: the task is executed all the same; no worker goes to sleep because another
 * one just holds what is for it. */
#include "core_test.h"

#define ROUNDS 20000

static struct starpu_codelet on_cpu = { .cpu_funcs = { core_count_kernel } },
			     on_device = { .cuda_funcs = { core_count_kernel },
					   .opencl_funcs = { core_count_kernel } };

static void one_policy(const char *policy)
{
	struct starpu_conf conf;
	int n = 0;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 1;
	conf.sched_policy_name = policy;
	CHECK_IS(starpu_init(&conf), 0);
	if (!starpu_cuda_worker_get_count()) {
		starpu_shutdown();
		exit(77);
	}
	for (int i = 0; i < ROUNDS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = i % 3 == 0 ? &on_device : &on_cpu;
		task->cl_arg = &n;
		task->cl_arg_size = sizeof(n);
		task->synchronous = 1;
		CHECK_IS(starpu_task_submit(task), 0);
	}
	starpu_shutdown();
	CHECK_IS(n, ROUNDS);
}

int main(void)
{
	one_policy("eager");
	one_policy("prio");
	one_policy("lws");
	return 0;
}
