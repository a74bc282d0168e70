/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that are submitted again: by their own callback, whole graphs by the callback of the last
 * task in whatever order, and by regeneration.
 *
 * Invariant: in each round a task runs once, after those that it depends on have run in that round.
 */
#include "core_test.h"

#define ROUNDS 50
#define WAITS 3000

static int runs[4], over;

static void wait_over(void)
{
	while (!LOAD(over))
		starpu_sleep(1e-4f);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	STORE(over, 0);
}

/* ---- one task ---- */

static int executions;
static struct starpu_codelet count_cl = { .cpu_funcs = { core_count_kernel }, .name = "count" };

static void once_more(void *arg)
{
	struct starpu_task *task = arg;

	if (LOAD(executions) < ROUNDS) {
		CHECK_IS(starpu_task_submit(task), 0);
		if (LOAD(executions) == 1)
			CHECK_IS(starpu_task_submit(task), -EINVAL); /* it is submitted already */
	} else {
		STORE(over, 1);
	}
}

static void own_callback(void)
{
	struct starpu_task task;

	starpu_task_init(&task);
	task.cl = &count_cl;
	task.cl_arg = &executions;
	task.callback_func = once_more;
	task.callback_arg = &task;
	CHECK_IS(starpu_task_submit(&task), 0);
	wait_over();
	CHECK_IS(executions, ROUNDS);
	starpu_task_clean(&task);
}

/* Who waits for a task that its callback submits again waits for the last round, also if a round
 * begins just then: hence many times. */
static void wait_for_last(void)
{
	struct starpu_task *task = starpu_task_create();

	executions = 0;
	task->cl = &count_cl;
	task->cl_arg = &executions;
	task->callback_func = once_more;
	task->callback_arg = task;
	task->detach = 0;
	task->destroy = 0;
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_wait(task), 0);
	CHECK_IS(executions, ROUNDS);
	starpu_task_destroy(task);
	STORE(over, 0);
}

/* ---- a diamond: 0 before 1 and 2, both before 3 ---- */

static struct starpu_task diamond[4];
static int order[4];           /* in which the last task submits them again */
static int middle_regenerates; /* 1 and 2 come again without anybody's help */

static void in_order(void *buffers[], void *arg)
{
	int i = (int) (intptr_t) arg, n = INCR(runs[i]);

	(void) buffers;
	if (i == 1 || i == 2)
		CHECK_IS(LOAD(runs[0]), n);
	if (i == 3)
		CHECK(LOAD(runs[1]) == n && LOAD(runs[2]) == n);
}

static struct starpu_codelet order_cl = { .cpu_funcs = { in_order }, .name = "in_order" };

static void next_round(void *arg)
{
	(void) arg;
	if (LOAD(runs[3]) == ROUNDS) {
		STORE(over, 1);
		return;
	}
	for (int i = 0; i < 4; i++)
		if (!middle_regenerates || order[i] == 0 || order[i] == 3)
			CHECK_IS(starpu_task_submit(&diamond[order[i]]), 0);
}

static void stop_regenerating(void *arg)
{
	int i = (int) (intptr_t) arg;

	if (LOAD(runs[i]) == ROUNDS)
		diamond[i].regenerate = 0;
}

static void make_diamond(int regenerates)
{
	struct starpu_task *middle[2] = { &diamond[1], &diamond[2] };

	middle_regenerates = regenerates;
	for (int i = 0; i < 4; i++) {
		runs[i] = 0;
		starpu_task_init(&diamond[i]);
		diamond[i].cl = &order_cl;
		diamond[i].cl_arg = (void *) (intptr_t) i;
	}
	for (int i = 1; regenerates && i < 3; i++) {
		diamond[i].regenerate = 1;
		diamond[i].callback_func = stop_regenerating;
		diamond[i].callback_arg = (void *) (intptr_t) i;
	}
	diamond[3].callback_func = next_round;
	starpu_task_declare_deps(&diamond[1], 1, &diamond[0]);
	starpu_task_declare_deps(&diamond[2], 1, &diamond[0]);
	starpu_task_declare_deps_array(&diamond[3], 2, middle);
}

static void rounds(int regenerates, int a, int b, int c, int d)
{
	order[0] = a;
	order[1] = b;
	order[2] = c;
	order[3] = d;
	make_diamond(regenerates);
	for (int i = 0; i < 4; i++)
		CHECK_IS(starpu_task_submit(&diamond[i]), 0);
	wait_over();
	for (int i = 0; i < 4; i++) {
		CHECK_IS(runs[i], ROUNDS);
		starpu_task_clean(&diamond[i]);
	}
}

/* The same rounds, submitted by the program, which declares the dependencies once. */
static void by_program(void)
{
	make_diamond(0);
	diamond[3].callback_func = NULL;
	for (int k = 1; k <= ROUNDS; k++) {
		for (int i = 3; i >= 0; i--)
			CHECK_IS(starpu_task_submit(&diamond[i]), 0);
		CHECK_IS(starpu_task_wait_for_all(), 0);
		CHECK_IS(runs[3], k);
	}
	for (int i = 0; i < 4; i++)
		starpu_task_clean(&diamond[i]);
}

int main(void)
{
	core_start(2, NULL);
	own_callback();
	for (int i = 0; i < WAITS; i++)
		wait_for_last();
	rounds(0, 0, 1, 2, 3);
	rounds(0, 3, 2, 1, 0);
	rounds(1, 3, 0, 1, 2);
	by_program();
	starpu_shutdown();
	return 0;
}
