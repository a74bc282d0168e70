/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policies with one queue for all workers: eager (first come, first served) and prio (most
 * urgent first).
 *
 * Invariant: a pushed task is in the shared queue until one worker takes it; none is left when the
 * policy ends (orr_shq_exit). */
#include "sched/sched.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_query.h"
#include "core/task/task.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

struct central {
	int by_priority;
	struct orr_shq q;
};

static void central_init(unsigned id, int by_priority)
{
	struct orr_ctx *ctx = orr_self()->core->ctx[id];
	struct central *c = aligned_alloc(ORR_LINES, sizeof(*c));

	if (!c)
		orr_fatal("out of memory for the scheduling policy");
	c->by_priority = by_priority;
	orr_shq_init(&c->q);
	ctx->policy_data = c;
	if (by_priority)
		orr_ctx_set_prios(ctx, INT_MIN, INT_MAX);
}

static void eager_init(unsigned ctx)
{
	central_init(ctx, 0);
}
static void prio_init(unsigned ctx)
{
	central_init(ctx, 1);
}

static void central_deinit(unsigned ctx)
{
	struct central *c = orr_self()->core->ctx[ctx]->policy_data;

	orr_shq_exit(&c->q);
	free(c);
}

static int central_push(struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = proc->core->ctx[orr_task_of(task)->ctx];
	struct central *c = ctx->policy_data;
	int choosy = orr_task_is_choosy(task);

	orr_shq_push(&c->q, task, c->by_priority);
	orr_ctx_wake(proc, ctx, choosy);
	return 0;
}

static struct starpu_task *central_pop(unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();
	struct central *c = self->proc->core->ctx[ctx]->policy_data;

	return orr_shq_pop(&c->q, self->worker, 0);
}

struct starpu_sched_policy orr_sched_eager = {
	.init_sched = eager_init,
	.deinit_sched = central_deinit,
	.push_task = central_push,
	.pop_task = central_pop,
	.policy_name = "eager",
	.policy_description = "one queue for all workers, first come first served",
	.worker_type = STARPU_WORKER_LIST,
};

struct starpu_sched_policy orr_sched_prio = {
	.init_sched = prio_init,
	.deinit_sched = central_deinit,
	.push_task = central_push,
	.pop_task = central_pop,
	.policy_name = "prio",
	.policy_description = "one queue for all workers, most urgent first",
	.worker_type = STARPU_WORKER_LIST,
};
