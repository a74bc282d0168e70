/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that one of several equal workers may execute come while all of them sleep: that one is
 * woken, under every policy.
 *
 * Invariant: none of these waits ends by luck: there is one task at a time, and nothing else that
 * would wake a worker. */
/* orr-test: env STARPU_WORKERS_NOBIND=1 */
#include "core_test.h"

#define WORKERS 4
#define LAST (WORKERS - 1)

static int ran;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK_IS(starpu_worker_get_id(), LAST);
	INCR(ran);
}

static int only_last(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return workerid == LAST;
}

static struct starpu_codelet by_mask = { .cpu_funcs = { kernel }, .name = "by_mask" };
static struct starpu_codelet by_function = { .cpu_funcs = { kernel },
					     .can_execute = only_last,
					     .name = "by_function" };
static uint32_t mask[1] = { 1u << LAST };

static void one(struct starpu_codelet *cl)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	if (cl == &by_mask) {
		task->workerids = mask;
		task->workerids_len = 1;
	}
	starpu_usleep(2000);
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_wait_for_all(), 0);
}

/* In the default context, then in one with three of the workers. */
static void under(const char *policy)
{
	int ids[3] = { 0, 1, LAST }, i;
	unsigned ctx;

	core_start(WORKERS, policy);
	ran = 0;
	for (i = 0; i < 5; i++) {
		one(&by_mask);
		one(&by_function);
	}
	ctx = starpu_sched_ctx_create(ids, 3, "three", STARPU_SCHED_CTX_POLICY_NAME, policy, 0);
	CHECK(ctx != STARPU_NMAX_SCHED_CTXS);
	starpu_sched_ctx_set_context(&ctx);
	for (i = 0; i < 5; i++) {
		one(&by_mask);
		one(&by_function);
	}
	starpu_sched_ctx_set_context(NULL);
	starpu_sched_ctx_delete(ctx);
	CHECK_IS(ran, 20);
	starpu_shutdown();
}

int main(void)
{
	struct starpu_sched_policy **p;

	for (p = starpu_sched_get_predefined_policies(); *p; p++)
		under((*p)->policy_name);
	return 0;
}
