/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy graph_test: tasks are held until the whole graph is known, then the longest path goes
 * first; in the default context, and in others, which look at what waits for their tasks in other
 * contexts too.
 *
 * Invariant: with one worker the order of execution follows from the lengths below, in each of two
 * rounds. */
#include "core_test.h"

#define NCHAIN 4
#define NFREE 5

static int order[32], norder;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	order[INCR(norder) - 1] = (int) (intptr_t) arg;
}

static double length(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return 100;
}

static struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = length };
static struct starpu_codelet chain_cl = {
	.cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_RW }, .model = &model
};
static struct starpu_codelet free_cl = { .cpu_funcs = { kernel }, .model = &model };

static struct starpu_task *submit(struct starpu_codelet *cl, starpu_data_handle_t h, int name)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->cl_arg = (void *) (intptr_t) name;
	task->handles[0] = h;
	CHECK_IS(starpu_task_submit(task), 0);
	return task;
}

/* Free tasks first, then a chain: the chain's first tasks are more urgent than any free one. */
static void round_of(starpu_data_handle_t h, int by_hand)
{
	norder = 0;
	for (int i = 0; i < NFREE; i++)
		submit(&free_cl, NULL, 100 + i);
	for (int i = 0; i < NCHAIN; i++)
		submit(&chain_cl, h, i);
	if (by_hand)
		starpu_do_schedule();
	starpu_usleep(2000);
	if (!by_hand)
		CHECK_IS(LOAD(norder), 0);
	starpu_task_wait_for_all();
	CHECK_IS(norder, NFREE + NCHAIN);
	for (int i = 0; i < NCHAIN - 1; i++)
		CHECK_IS(order[i], i);
	/* The last of the chain is as long as a free one, which was ready before. */
	for (int i = 0; i < NFREE; i++)
		CHECK_IS(order[NCHAIN - 1 + i], 100 + i);
	CHECK_IS(order[NCHAIN - 1 + NFREE], NCHAIN - 1);
}

static unsigned context(int worker)
{
	unsigned ctx = starpu_sched_ctx_create(&worker, 1, "graph", STARPU_SCHED_CTX_POLICY_NAME,
					       "graph_test", 0);

	CHECK(ctx != 0 && ctx != STARPU_NMAX_SCHED_CTXS);
	return ctx;
}

static void submit_to(unsigned ctx, struct starpu_codelet *cl, starpu_data_handle_t h, int name)
{
	unsigned before = starpu_sched_ctx_get_context();

	starpu_sched_ctx_set_context(&ctx);
	submit(cl, h, name);
	starpu_sched_ctx_set_context(before == STARPU_NMAX_SCHED_CTXS ? NULL : &before);
}

/* Of two free tasks of a context the later one is awaited by a chain of the other context. */
static void across(unsigned one, unsigned other)
{
	starpu_data_handle_t h;
	int x = 0;

	norder = 0;
	h = core_register(&x);
	submit_to(one, &free_cl, NULL, 1);
	submit_to(one, &chain_cl, h, 2);
	for (int i = 3; i < 6; i++)
		submit_to(other, &chain_cl, h, i);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(one), 0);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	CHECK_IS(order[0], 2);
	CHECK_IS(norder, 5);
	starpu_data_unregister(h);
}

/* The same rounds in a context with one of two workers; then two such contexts; the bound of what
 * is recorded besides. */
static void in_contexts(void)
{
	starpu_data_handle_t h;
	double min_ms;
	unsigned a, b;
	int x = 0, zero = 0;

	core_start(2, NULL);
	starpu_bound_start(0, 0);
	a = context(1);
	starpu_sched_ctx_set_context(&a);
	h = core_register(&x);
	round_of(h, 0);
	round_of(h, 1);
	round_of(h, 0);
	/* The policy made dependencies known: three chains of equal tasks. */
	starpu_bound_stop();
	starpu_bound_compute(&min_ms, NULL, 0);
	CHECK(min_ms > 1.19 && min_ms < 27 * 0.1);
	starpu_sched_ctx_set_context(NULL);
	b = context(0);
	across(a, b);
	across(b, a);
	across(a, 0);
	/* What a context holds is given out when it is deleted. */
	norder = 0;
	submit_to(b, &free_cl, NULL, 1);
	starpu_sched_ctx_delete(b);
	CHECK_IS(norder, 1);
	/* Nobody waits for a context that was declared finished, yet its task goes when others are
	 * waited for. */
	submit_to(a, &free_cl, NULL, 1);
	starpu_sched_ctx_finished_submit(a);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	CHECK_IS(norder, 2);
	starpu_sched_ctx_delete(a);
	a = context(0);
	starpu_sched_ctx_remove_workers(&zero, 1, a);
	submit_to(a, &free_cl, NULL, 1);
	starpu_do_schedule();
	starpu_sched_ctx_add_workers(&zero, 1, a);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(a), 0);
	CHECK_IS(norder, 3);
	starpu_data_unregister(h);
	starpu_shutdown();
}

int main(void)
{
	starpu_data_handle_t h;
	int x = 0;

	core_start(1, "graph_test");
	h = core_register(&x);
	round_of(h, 0);
	round_of(h, 1);
	/* Waiting for data lets tasks go, too. */
	submit(&chain_cl, h, 0);
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	starpu_data_release(h);
	submit(&free_cl, NULL, 1);
	starpu_data_unregister(h);
	starpu_shutdown();
	in_contexts();
	return 0;
}
