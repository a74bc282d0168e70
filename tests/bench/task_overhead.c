/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-bench: alone */
/* Cost of a task that does nothing, from submission to completion, with one worker: without data,
 * and with one datum accessed RW. ORR_BENCH_KERNEL_NS: nanoseconds that it computes nevertheless.
 *
 * Prints the median over rounds in nanoseconds per task. The same source compiles against any
 * runtime with this interface, which is how the ratio to Debian's libstarpu-dev is made
 * (tests/bench/compare_starpu.sh). Invariant: a round submits NTASKS tasks and waits for all of
 * them; the first round is not counted. */
#include <starpu.h>

#include <stdio.h>
#include <stdlib.h>

#define NTASKS 20000
#define ROUNDS 21

static double kernel_us;

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	if (kernel_us > 0)
		for (double end = starpu_timing_now() + kernel_us; starpu_timing_now() < end;)
			;
}

static struct starpu_codelet cl0 = { .cpu_funcs = { nothing }, .nbuffers = 0, .name = "empty" };
static struct starpu_codelet cl1 = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "empty1"
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

/* One round: ns per task. */
static double round_ns(struct starpu_codelet *cl, starpu_data_handle_t h)
{
	double start = starpu_timing_now();

	for (unsigned i = 0; i < NTASKS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = cl;
		if (h)
			task->handles[0] = h;
		if (starpu_task_submit(task))
			abort();
	}
	starpu_task_wait_for_all();
	return (starpu_timing_now() - start) * 1000 / NTASKS;
}

static void measure(const char *what, struct starpu_codelet *cl, starpu_data_handle_t h)
{
	double v[ROUNDS];

	round_ns(cl, h);
	for (unsigned i = 0; i < ROUNDS; i++)
		v[i] = round_ns(cl, h);
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	printf("task_overhead %s: median %.0f ns per task (min %.0f, max %.0f)\n", what,
	       v[ROUNDS / 2], v[0], v[ROUNDS - 1]);
}

int main(void)
{
	struct starpu_conf conf;
	starpu_data_handle_t h;
	const char *ns = getenv("ORR_BENCH_KERNEL_NS");
	int x = 0;

	kernel_us = ns ? atof(ns) * 1e-3 : 0;
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	if (starpu_init(&conf))
		return 77;
	measure("no_data", &cl0, NULL);
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	measure("one_datum", &cl1, h);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
