/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One tag for several live tasks, and regenerating tasks in a circle of tags.
 *
 * Invariant: each task waits for what its tag depends on; the tag fires with the first that ends.
 */
#include "core_test.h"

#define N 20
#define ROUNDS 100

static int done[2], first_seen;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	CHECK_IS(INCR(*(int *) arg) > N, 0);
}

static struct starpu_codelet shared_cl = { .cpu_funcs = { kernel }, .name = "shared" };

static void after_first(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	STORE(first_seen, LOAD(done[0]));
}

static struct starpu_codelet after_cl = { .cpu_funcs = { after_first }, .name = "after" };

/* N tasks have tag 7, which depends on tag 6; a task behind tag 7 runs when one of them ended. */
static void several(void)
{
	starpu_tag_declare_deps(7, 1, (starpu_tag_t) 6);
	starpu_tag_declare_deps(8, 1, (starpu_tag_t) 7);
	for (int i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&shared_cl, STARPU_CL_ARGS_NFREE, &done[0],
					    sizeof(done[0]), STARPU_TAG, (starpu_tag_t) 7, 0),
			 0);
	CHECK_IS(starpu_task_insert(&after_cl, STARPU_TAG, (starpu_tag_t) 8, 0), 0);
	starpu_sleep(1e-3f);
	CHECK_IS(LOAD(done[0]), 0);
	starpu_tag_notify_from_apps(6);
	CHECK_IS(starpu_tag_wait(8), 0);
	CHECK(LOAD(first_seen) >= 1);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	CHECK_IS(done[0], N);
	starpu_tag_remove(6);
	starpu_tag_remove(7);
	starpu_tag_remove(8);
}

static struct starpu_task a, b;
static int rounds[2];

static void check_turn(void *buffers[], void *arg)
{
	int mine = INCR(*(int *) arg);

	(void) buffers;
	/* The program opens the circle for the first task. */
	CHECK_IS(LOAD(rounds[arg == &rounds[0]]), arg == &rounds[0] ? mine - 1 : mine);
}

static struct starpu_codelet turn_cl = { .cpu_funcs = { check_turn }, .name = "turn" };

static void stop_at_last(void *arg)
{
	struct starpu_task *task = arg;

	if (LOAD(*(int *) task->cl_arg) == ROUNDS)
		task->regenerate = 0;
}

static void prepare(struct starpu_task *task, starpu_tag_t tag, int *count)
{
	starpu_task_init(task);
	task->cl = &turn_cl;
	task->cl_arg = count;
	task->regenerate = 1;
	task->use_tag = 1;
	task->tag_id = tag;
	task->callback_func = stop_at_last;
	task->callback_arg = task;
}

static void circle(void)
{
	prepare(&a, 1, &rounds[0]);
	prepare(&b, 2, &rounds[1]);
	starpu_tag_declare_deps(2, 1, (starpu_tag_t) 1);
	starpu_tag_declare_deps(1, 1, (starpu_tag_t) 2);
	CHECK_IS(starpu_task_submit(&a), 0);
	CHECK_IS(starpu_task_submit(&b), 0);
	starpu_tag_notify_restart_from_apps(2);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	CHECK(rounds[0] == ROUNDS && rounds[1] == ROUNDS);
	CHECK_IS(starpu_tag_wait(1), 0); /* it stays fired */
	starpu_task_clean(&a);
	starpu_task_clean(&b);
}

int main(void)
{
	core_start(2, NULL);
	several();
	circle();
	starpu_shutdown();
	return 0;
}
