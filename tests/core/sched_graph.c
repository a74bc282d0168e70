/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy graph_test: tasks are held until the whole graph is known, then the longest path goes first.
 *
 * Invariant: with one worker the order of execution follows from the lengths below, in each of two rounds. */
#include "core_test.h"

#define NCHAIN 4
#define NFREE 5

static int order[32], norder;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	order[norder++] = (int) (intptr_t) arg;
}

static double length(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return 100;
}

static struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = length };
static struct starpu_codelet chain_cl = { .cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_RW }, .model = &model };
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
	int i;

	norder = 0;
	for (i = 0; i < NFREE; i++)
		submit(&free_cl, NULL, 100 + i);
	for (i = 0; i < NCHAIN; i++)
		submit(&chain_cl, h, i);
	if (by_hand)
		starpu_do_schedule();
	starpu_task_wait_for_all();
	CHECK_IS(norder, NFREE + NCHAIN);
	for (i = 0; i < NCHAIN - 1; i++)
		CHECK_IS(order[i], i);
	/* The last of the chain is as long as a free one, which was ready before. */
	for (i = 0; i < NFREE; i++)
		CHECK_IS(order[NCHAIN - 1 + i], 100 + i);
	CHECK_IS(order[NCHAIN - 1 + NFREE], NCHAIN - 1);
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
	return 0;
}
