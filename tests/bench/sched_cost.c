/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-bench: alone */
/* orr-bench: env STARPU_WORKERS_NOBIND=1 */
/* Cost of a scheduling decision with 16 workers: what simulate_push_task of a policy takes, which
 * decides and queues nothing.
 *
 * A policy of the program stands before the one that is measured, and times REPEAT decisions for
 * each task before it passes the task on. Prints the median over rounds in nanoseconds: on 16 CPU
 * workers, then on 12 and 4 devices with a memory of their own, for tasks of three data whose model
 * is a function. Invariant: in a round NTASKS tasks pile up while the workers are paused. */
#include <starpu.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NTASKS 1000
#define REPEAT 16
#define ROUNDS 11
#define NDATA 64

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static double length(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 500 : 50;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH, .arch_cost_function = length };
static struct starpu_codelet cl = {
	.cpu_funcs = { nothing },
	.cuda_funcs = { nothing },
	.nbuffers = 3,
	.modes = { STARPU_R, STARPU_R, STARPU_R },
	.model = &model,
	.name = "bench",
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static struct starpu_sched_policy *real, timed;
static double spent_us;

static int timed_push(struct starpu_task *task)
{
	double start = starpu_timing_now();

	for (unsigned i = 0; i < REPEAT; i++)
		real->simulate_push_task(task);
	spent_us += starpu_timing_now() - start;
	return real->push_task(task);
}

static void submit(starpu_data_handle_t *h, unsigned i)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->priority = (int) (i % 16);
	for (unsigned k = 0; k < 3; k++)
		task->handles[k] = h[(i * (k + 1) + k) % NDATA];
	if (starpu_task_submit(task))
		abort();
}

static void rounds(double *v)
{
	static float data[NDATA][16];
	starpu_data_handle_t h[NDATA];

	for (unsigned i = 0; i < NDATA; i++)
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) data[i], 16,
					    sizeof(float));
	for (unsigned r = 0; r < ROUNDS; r++) {
		starpu_pause();
		spent_us = 0;
		for (unsigned i = 0; i < NTASKS; i++)
			submit(h, i);
		v[r] = spent_us * 1000 / NTASKS / REPEAT;
		starpu_resume();
		starpu_task_wait_for_all();
	}
	for (unsigned i = 0; i < NDATA; i++)
		starpu_data_unregister(h[i]);
}

static void measure(const char *what, const char *policy, int ncpus, int ndevices)
{
	struct starpu_sched_policy **p = starpu_sched_get_predefined_policies();
	struct starpu_conf conf;
	double v[ROUNDS];
	char number[16];

	while (*p && strcmp((*p)->policy_name, policy))
		p++;
	real = *p;
	if (!real || !real->simulate_push_task)
		return;
	timed = *real;
	timed.push_task = timed_push;
	timed.policy_name = "timed";
	snprintf(number, sizeof(number), "%d", ndevices);
	setenv("ORRERY_FAKE_DEVICES", number, 1);
	starpu_conf_init(&conf);
	conf.ncpus = ncpus;
	conf.sched_policy = &timed;
	if (starpu_init(&conf))
		return;
	rounds(v);
	starpu_shutdown();
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	printf("sched_cost %s %s: median %.0f ns per decision (min %.0f, max %.0f)\n", what, policy,
	       v[ROUNDS / 2], v[0], v[ROUNDS - 1]);
}

int main(void)
{
	static const char *const policies[] = { "dm", "dmda", "dmdas", "dmdasd" };

	for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		measure("16_cpus", policies[i], 16, 0);
		measure("12_cpus_4_devices", policies[i], 12, 4);
	}
	return 0;
}
