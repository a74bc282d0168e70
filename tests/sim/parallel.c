/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: sim-ranks 2 */
/* orr-test: sim-args --cost-submit 0 --cost-sched 0 --cost-complete 0 --cost-foreign 0 --cost-message 0 */
/* Virtual time of parallel tasks: what the model says for that many cores, and no worker does
 * anything else meanwhile.
 *
 * Invariant: with all other costs 0 the times are those of the models, to a nanosecond. */
#include <starpu.h>

#include "lib/test.h"

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static void sleeper(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_usleep(starpu_combined_worker_get_rank() == 2 ? 5000 : 10);
}

/* A program's own idea of how it scales. */
static double by_cores(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	static const double us[] = { 0, 1200, 700, 500, 400 };

	(void) task;
	(void) nimpl;
	return us[arch->devices[0].ncores];
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH, .arch_cost_function = by_cores };
static struct starpu_codelet forkjoin = {
	.cpu_funcs = { kernel }, .type = STARPU_FORKJOIN, .model = &model, .name = "forkjoin"
};
static struct starpu_codelet spmd = {
	.cpu_funcs = { kernel }, .type = STARPU_SPMD, .model = &model, .name = "spmd"
};
static struct starpu_codelet slow = {
	.cpu_funcs = { sleeper }, .type = STARPU_SPMD, .model = &model, .name = "slow"
};
static struct starpu_codelet seq = { .cpu_funcs = { kernel }, .model = &model, .name = "seq" };

static double insert_and_wait(struct starpu_codelet *cl, int n, int worker)
{
	double start = starpu_timing_now();

	for (int i = 0; i < n; i++)
		CHECK(starpu_task_insert(cl, STARPU_EXECUTE_ON_WORKER, worker, 0) == 0);
	starpu_task_wait_for_all();
	return starpu_timing_now() - start;
}

static int is(double us, double want)
{
	return fabs(us - want) < 0.001 || (fprintf(stderr, "%f us, not %f\n", us, want), 0);
}

int main(void)
{
	int all[] = { 0, 1, 2, 3 }, four, pair, right;
	struct starpu_conf conf;
	double start;

	starpu_conf_init(&conf);
	conf.ncpus = 4;
	conf.sched_policy_name = "eager";
	CHECK(starpu_init(&conf) == 0);
	four = starpu_combined_worker_assign_workerid(4, all);
	pair = starpu_combined_worker_assign_workerid(2, all);
	right = starpu_combined_worker_assign_workerid(2, all + 2);
	CHECK(is(insert_and_wait(&seq, 1, 0), 1200));
	CHECK(is(insert_and_wait(&forkjoin, 3, four), 1200));
	CHECK(is(insert_and_wait(&spmd, 3, four), 1200));
	CHECK(is(insert_and_wait(&spmd, 2, pair), 1400));
	/* Ranks that last longer than the model says. */
	CHECK(is(insert_and_wait(&slow, 1, four), 5000));
	/* Two pairs at a time; then all wait for the slower one. */
	start = starpu_timing_now();
	CHECK(starpu_task_insert(&forkjoin, STARPU_EXECUTE_ON_WORKER, pair, 0) == 0);
	CHECK(starpu_task_insert(&spmd, STARPU_EXECUTE_ON_WORKER, right, 0) == 0);
	CHECK(starpu_task_insert(&spmd, STARPU_EXECUTE_ON_WORKER, right, 0) == 0);
	CHECK(starpu_task_insert(&spmd, STARPU_EXECUTE_ON_WORKER, four, 0) == 0);
	starpu_task_wait_for_all();
	CHECK(is(starpu_timing_now() - start, 2 * 700 + 400));
	starpu_shutdown();

	/* pheft: on four cores as soon as it pays. */
	conf.sched_policy_name = "pheft";
	CHECK(starpu_init(&conf) == 0);
	start = starpu_timing_now();
	CHECK(starpu_task_insert(&forkjoin, 0) == 0);
	starpu_task_wait_for_all();
	CHECK(is(starpu_timing_now() - start, 400));
	starpu_shutdown();
	return 0;
}
