/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_sched_ctx_set_context() in a kernel or callback counts for that worker only: what the
 * kernels of two workers submit goes to the context that each chose, also when they take turns; the
 * program's own choice stays what it was. */
#include <unistd.h>

#include <starpu.h>
#include "lib/test.h"

static unsigned ids[2];
static int wrong, ran[2];

static void leaf(void *buffers[], void *arg);
static struct starpu_codelet leaf_cl = { .cpu_funcs = { leaf }, .name = "leaf" };

static void submit_leaf(int worker, int depth)
{
	OK(starpu_task_insert(&leaf_cl, STARPU_VALUE, &worker, sizeof(worker), STARPU_VALUE, &depth,
			      sizeof(depth), 0));
}

static void leaf(void *buffers[], void *arg)
{
	int worker, depth;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &worker, &depth);
	if (worker != starpu_worker_get_id() || starpu_sched_ctx_get_context() != ids[worker])
		STARPU_ATOMIC_ADD(&wrong, 1);
	ran[worker]++;
	if (depth)
		submit_leaf(worker, depth - 1);
}

static void root(void *buffers[], void *arg)
{
	int worker;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &worker);
	starpu_sched_ctx_set_context(&ids[worker]);
	usleep(100); /* a choice outlasts waits */
	for (int i = 0; i < 4; i++)
		submit_leaf(worker, 20);
}

static struct starpu_codelet root_cl = { .cpu_funcs = { root }, .name = "root" };

int main(void)
{
	struct starpu_conf conf;
	int worker[2] = { 0, 1 };

	starpu_conf_init(&conf);
	starpu_conf_noworker(&conf);
	conf.ncpus = 2;
	conf.precedence_over_environment_variables = 1;
	/* A second start finds no context of the first. */
	for (int round = 0; round < 2; round++) {
		if (test_skips(starpu_init(&conf)) || starpu_cpu_worker_get_count() < 2)
			return 77;
		CHECK_IS(starpu_sched_ctx_get_context(), STARPU_NMAX_SCHED_CTXS);
		for (int i = 0; i < 2; i++)
			ids[i] = starpu_sched_ctx_create(&worker[i], 1, "one", 0);
		ran[0] = ran[1] = 0;
		for (int i = 0; i < 2; i++)
			OK(starpu_task_insert(&root_cl, STARPU_SCHED_CTX, ids[i], STARPU_VALUE, &i,
					      sizeof(i), 0));
		OK(starpu_task_wait_for_all());
		CHECK_IS(wrong, 0);
		CHECK_IS(ran[0], 84);
		CHECK_IS(ran[1], 84);
		CHECK_IS(starpu_sched_ctx_get_context(), STARPU_NMAX_SCHED_CTXS);
		starpu_shutdown();
	}
	return 0;
}
