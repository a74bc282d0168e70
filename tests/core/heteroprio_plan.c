/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* heteroprio arranged by the program: buckets by priority, the order in which each kind of worker
 * looks into them, and how much slower a kind is.
 *
 * Invariant: tasks pushed during a pause are executed in the order of the plan. */
#include "core_test.h"

#include <schedulers/starpu_heteroprio.h>

#define N 4

static int order[8 * N], nran, by_cpu;

static void note(void *buffers[], void *arg)
{
	(void) buffers;
	order[INCR(nran) - 1] = *(int *) arg;
	if (starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CPU_WORKER)
		INCR(by_cpu);
}

static struct starpu_codelet cpu = { .cpu_funcs = { note } };
static struct starpu_codelet both = { .cpu_funcs = { note }, .cuda_funcs = { note } };

static void submit(struct starpu_codelet *cl, int bucket)
{
	int *x = malloc(sizeof(*x));

	*x = bucket;
	OK(starpu_task_insert(cl, STARPU_PRIORITY, bucket, STARPU_CL_ARGS, x, sizeof(*x), 0));
}

static void start(int ncpus, int ndevices, void (*plan)(unsigned))
{
	struct starpu_conf conf;

	test_devices((unsigned) ndevices);
	OK(starpu_conf_init(&conf));
	conf.ncpus = ncpus;
	conf.ncuda = ndevices;
	conf.nopencl = 0;
	conf.sched_policy_name = "heteroprio";
	conf.sched_policy_callback = plan;
	OK(starpu_init(&conf));
	nran = by_cpu = 0;
}

/* Looks: 2, 0, 1. */
static void three(unsigned ctx)
{
	starpu_heteroprio_set_nb_prios(ctx, STARPU_CPU_WORKER, 3);
	starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, 0, 2);
	starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, 1, 0);
	starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, 2, 1);
	/* Nothing of this changes anything. */
	starpu_heteroprio_set_mapping(ctx, STARPU_CPU_WORKER, 3, 0);
	starpu_heteroprio_set_nb_prios(ctx, (enum starpu_worker_archtype) 77, 3);
	starpu_heteroprio_set_nb_prios(9, STARPU_CPU_WORKER, 1);
	starpu_heteroprio_set_faster_arch(ctx, STARPU_CPU_WORKER, 3);
	starpu_heteroprio_set_arch_slow_factor(ctx, STARPU_CPU_WORKER, 0, 0.5f);
	starpu_heteroprio_set_use_locality(ctx, 0);
	starpu_heteroprio_map_wgroup_memory_nodes(ctx);
}

static void mapping(void)
{
	static const int wanted[] = { 2, 0, 1 };

	start(1, 0, three);
	starpu_pause();
	for (int i = 0; i < 3 * N; i++)
		submit(&cpu, i % 3);
	starpu_resume();
	starpu_task_wait_for_all();
	CHECK_IS(nran, 3 * N);
	for (int i = 0; i < 3 * N; i++)
		CHECK_IS(order[i], wanted[i / N]);
	/* Too late: it stays. */
	starpu_heteroprio_set_mapping(0, STARPU_CPU_WORKER, 0, 1);
	nran = 0;
	starpu_pause();
	submit(&cpu, 1);
	submit(&cpu, 2);
	starpu_resume();
	starpu_task_wait_for_all();
	CHECK(order[0] == 2 && order[1] == 1);
	starpu_heteroprio_print_wgroups(stdout, 0);
	starpu_shutdown();
}

/* Bucket 0 is for everybody, devices are 100 times as fast; bucket 1 is for CPUs only. */
static void slow_cpus(unsigned ctx)
{
	starpu_heteroprio_set_nb_prios(ctx, STARPU_CPU_WORKER, 2);
	starpu_heteroprio_set_nb_prios(ctx, STARPU_CUDA_WORKER, 1);
	starpu_heteroprio_set_faster_arch(ctx, STARPU_CUDA_WORKER, 0);
	starpu_heteroprio_set_arch_slow_factor(ctx, STARPU_CPU_WORKER, 0, 100.0f);
}

static void factor(void)
{
	start(2, 1, slow_cpus);
	for (int i = 0; i < 4 * N; i++)
		submit(&both, 0);
	for (int i = 0; i < N; i++)
		submit(&cpu, 1);
	for (int i = 0; i < N; i++)
		submit(&cpu, 0); /* the faster kind cannot execute these: nobody waits for it */
	starpu_task_wait_for_all();
	CHECK_IS(nran, 6 * N);
	CHECK_IS(by_cpu, 2 * N);
	starpu_shutdown();
}

/* Tasks whose data were made by a device of their own, in turns; counts those that find them there.
 * Two devices take them, the first of which comes to any of them. */
static int nlocal;

static void touch(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	if (starpu_task_get_current()->priority)
		return;
	starpu_usleep(2000); /* the other device comes meanwhile */
	if (starpu_worker_get_devid(starpu_worker_get_id()) ==
	    (int) (intptr_t) starpu_task_get_current()->callback_arg)
		INCR(nlocal);
}

static void local_plan(unsigned ctx)
{
	starpu_heteroprio_set_use_locality(ctx, 1);
}

static int nlocal_of(void (*plan)(unsigned))
{
	static struct starpu_codelet make = { .cuda_funcs = { touch },
					      .nbuffers = 1,
					      .modes = { STARPU_W } };
	static struct starpu_codelet use = { .cuda_funcs = { touch },
					     .nbuffers = 1,
					     .modes = { STARPU_R } };
	starpu_data_handle_t h[2 * N];

	start(1, 2, plan);
	nlocal = 0;
	for (int i = 0; i < 2 * N; i++) {
		starpu_vector_data_register(&h[i], -1, 0, 1000, 8);
		OK(starpu_task_insert(&make, STARPU_W, h[i], STARPU_PRIORITY, 1,
				      STARPU_EXECUTE_ON_WORKER, 1 + (i & 1), 0));
	}
	starpu_task_wait_for_all();
	starpu_pause();
	/* One device finds the first four, the other one the last four. */
	for (int dev = 0; dev < 2; dev++)
		for (int i = 0; i < N; i++)
			OK(starpu_task_insert(&use, STARPU_R, h[2 * i + dev],
					      STARPU_CALLBACK_ARG_NFREE, (void *) (intptr_t) dev,
					      0));
	starpu_resume();
	starpu_task_wait_for_all();
	for (int i = 0; i < 2 * N; i++)
		starpu_data_unregister(h[i]);
	starpu_shutdown();
	return nlocal;
}

static void locality(void)
{
	if (!test_has_devices()) /* the stub's devices work at once, and find tasks in any order */
		CHECK(nlocal_of(NULL) <= N + 1);
	CHECK(nlocal_of(local_plan) >= 2 * N - 2);
	setenv("STARPU_HETEROPRIO_USE_LA", "1", 1);
	CHECK(nlocal_of(NULL) >= 2 * N - 2);
	unsetenv("STARPU_HETEROPRIO_USE_LA");
}

int main(void)
{
	mapping();
	factor();
	locality();
	core_start(1, "eager");
	starpu_heteroprio_set_nb_prios(0, STARPU_CPU_WORKER, 3); /* another policy: a message */
	starpu_heteroprio_set_use_locality(0, 1);
	starpu_shutdown();
	return 0;
}
