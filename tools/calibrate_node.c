/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-calibrate-node: what the runtime and the copies between memories cost in one process of this machine.
 *
 * Prints "NAME VALUE" lines for tools/orrery_calibrate.py: numbers of units; bandwidth and latency of each pair of memory nodes;
 * submit_us, sched_us and complete_us. Invariant: every number is the best of several rounds, since anything else that the machine
 * does can only make a round longer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu.h>
#include "drivers/memnode.h"

enum { NTASKS = 10000, NSETS = 256, ROUNDS = 15, BIG = 32 << 20, SMALL = 64, COPIES = 2000 };

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet cl = { .cpu_funcs = { nothing }, .nbuffers = 3, .modes = { STARPU_R, STARPU_R, STARPU_RW }, .name = "empty" };
static starpu_data_handle_t data[NSETS][3];
static int values[NSETS][3];

/* One task that every runtime of tiles knows: two data read, one written. Independent of its neighbours in time. */
static void submit(int i, int pinned)
{
	struct starpu_task *task = starpu_task_create();
	task->cl = &cl;
	for (int b = 0; b < 3; b++)
		task->handles[b] = data[i % NSETS][b];
	if (pinned) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = 0;
	}
	if (starpu_task_submit(task))
		abort();
}

/* Microseconds per task: of submission while workers rest, then of execution. */
static void one_round(int pinned, double *submit_us, double *run_us)
{
	starpu_pause();
	double start = starpu_timing_now();
	for (int i = 0; i < NTASKS; i++)
		submit(i, pinned);
	double between = starpu_timing_now();
	starpu_resume();
	starpu_task_wait_for_all();
	double end = starpu_timing_now();
	*submit_us = (between - start) / NTASKS;
	*run_us = (end - between) / NTASKS;
}

static void best_round(int pinned, double *submit_us, double *run_us)
{
	*submit_us = *run_us = 1e30;
	for (int i = 0; i < ROUNDS; i++) {
		double s, r;
		one_round(pinned, &s, &r);
		*submit_us = s < *submit_us ? s : *submit_us;
		*run_us = r < *run_us ? r : *run_us;
	}
}

/* What a worker does for a task is measured together; what the policy has of it shows against tasks that pass it by. */
static void measure_tasks(void)
{
	double submit_us, run_us, pinned_submit_us, pinned_us;
	for (int i = 0; i < NSETS; i++)
		for (int b = 0; b < 3; b++)
			starpu_variable_data_register(&data[i][b], STARPU_MAIN_RAM, (uintptr_t) &values[i][b], sizeof(int));
	best_round(0, &submit_us, &run_us);
	best_round(1, &pinned_submit_us, &pinned_us);
	for (int i = 0; i < NSETS; i++)
		for (int b = 0; b < 3; b++)
			starpu_data_unregister(data[i][b]);
	double sched = run_us - pinned_us;
	if (!(sched > 0.05 * run_us))
		sched = 0.05 * run_us;
	if (sched > 0.5 * run_us)
		sched = 0.5 * run_us;
	printf("submit_us %.4f\nsched_us %.4f\ncomplete_us %.4f\n", submit_us, sched, run_us - sched);
}

/* ---- copies between memories ---- */

/* Data of a device is copied by the device's side. */
static int copy(struct orr_node *node, unsigned s, uintptr_t from, unsigned d, uintptr_t to, size_t size)
{
	const struct orr_memnode_ops *ops = node->memnodes[d == STARPU_MAIN_RAM ? s : d].ops;
	return ops->copy(node, from, 0, s, to, 0, d, size, NULL);
}

static double copy_us(struct orr_node *node, unsigned s, unsigned d, size_t size, int repeat)
{
	uintptr_t from = node->memnodes[s].ops->alloc(node, s, size, 0), to = node->memnodes[d].ops->alloc(node, d, size, 0);
	double best = -1;
	for (int round = 0; from && to && round < ROUNDS; round++) {
		double start = starpu_timing_now();
		for (int i = 0; i < repeat; i++)
			if (copy(node, s, from, d, to, size))
				goto out;
		double us = (starpu_timing_now() - start) / repeat;
		if (round && (best < 0 || us < best))
			best = us;
	}
out:
	if (from)
		node->memnodes[s].ops->release(node, s, from, size, 0);
	if (to)
		node->memnodes[d].ops->release(node, d, to, size, 0);
	return best;
}

/* A pair that cannot be measured is left out: the files say nan. */
static void measure_buses(struct orr_node *node)
{
	for (unsigned s = 0; s < node->nmemnodes; s++) {
		for (unsigned d = 0; d < node->nmemnodes; d++) {
			if (s == d)
				continue;
			double small = copy_us(node, s, d, SMALL, COPIES), big = copy_us(node, s, d, BIG, 1);
			if (small > 0 && big > small) {
				printf("latency %u %u %.6f\n", s, d, small);
				printf("bandwidth %u %u %.6f\n", s, d, BIG / (big - small));
			}
		}
	}
}

/* ---- all ---- */

int main(void)
{
	struct starpu_conf conf;
	starpu_conf_init(&conf);
	int ret = starpu_init(&conf);
	if (ret) {
		fprintf(stderr, "orrery-calibrate-node: the runtime did not start (%s)\n", strerror(-ret));
		return 1;
	}
	struct orr_node *node = orr_self();
	printf("ncpus %u\nnnuma %u\nncuda %u\nnopencl %u\n", node->topo.ncores, starpu_memory_nodes_get_numa_count(), starpu_memory_nodes_get_count_by_kind(STARPU_CUDA_RAM),
	       starpu_memory_nodes_get_count_by_kind(STARPU_OPENCL_RAM));
	measure_buses(node);
	starpu_shutdown();
	/* Costs of a task are those of one worker: more of them would wait for each other's tasks. */
	conf.ncpus = 1;
	conf.ncuda = conf.nopencl = 0;
	conf.precedence_over_environment_variables = 1;
	if (starpu_init(&conf) || starpu_cpu_worker_get_count() != 1) {
		fputs("orrery-calibrate-node: no CPU worker could be started, so tasks cannot be timed; is STARPU_NCPU=0 set?\n", stderr);
		return 1;
	}
	measure_tasks();
	starpu_shutdown();
	return fflush(stdout) != 0;
}
