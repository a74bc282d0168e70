/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scheduling contexts at work: what happens to their tasks, and what their workers take (see
 * sched_ctx.h).
 *
 * Invariant: a ready task of a context is either with its policy, or in its list of the homeless,
 * which is looked through each time that workers join. A policy is only called for a context other
 * than 0 by who is counted in ctx->npushing, shown in worker->in_ctx, or has a task of it. */
#include "core/ctx/sched_ctx.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/task/task_count.h"
#include "core/task/task_life.h"
#include "core/worker/wake.h"
#include "core/worker/worker_life.h"

#include <errno.h>
#include <string.h>

/* ---- waking ---- */

void orr_ctx_wake_all(struct orr_process *proc, struct orr_ctx *ctx)
{
	ORR_ATOMIC_FENCE();
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (orr_ctx_has(ctx, &proc->core->workers[i]))
			orr_wake_group_fenced(proc, (unsigned) (proc->core->workers[i].group -
								proc->core->groups));
}

/* One that sleeps is enough where all can do the same; nobody needs to be told who does not sleep.
 */
void orr_ctx_wake_some(struct orr_process *proc, struct orr_ctx *ctx)
{
	if (proc->arch_mask & (proc->arch_mask - 1)) {
		orr_ctx_wake_all(proc, ctx);
		return;
	}
	ORR_ATOMIC_FENCE();
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		unsigned g = (unsigned) (proc->core->workers[i].group - proc->core->groups);

		if (orr_ctx_has(ctx, &proc->core->workers[i]) && orr_wake_claim_fenced(proc, g))
			return;
	}
}

/* ---- pushing ---- */

static void put_up(struct orr_ctx *ctx, struct starpu_task *task)
{
	orr_task_assert_of(orr_task_of(task), ORR_TASK_OF_POLICY);
	orr_assert(orr_task_of(task)->ctx == ctx->id);
	orr_lock(&ctx->lock);
	orr_assertf(!starpu_task_list_ismember(&ctx->homeless, task),
		    "task %s waits for workers twice", orr_task_name(task));
	starpu_task_list_push_back(&ctx->homeless, task);
	orr_unlock(&ctx->lock);
}

static void refuse(const struct orr_ctx *ctx, const struct starpu_task *task, int err)
{
	const char *name = ctx->policy->policy_name;

	orr_fatal("scheduling policy %s refused task %s: %s", name ? name : "of the program",
		  orr_task_name(task), strerror(-err));
}

/* The homeless try again. */
static void retry(struct orr_process *proc, struct orr_ctx *ctx)
{
	struct starpu_task_list list;
	struct starpu_task *task;

	orr_lock(&ctx->lock);
	list = ctx->homeless;
	starpu_task_list_init(&ctx->homeless);
	orr_unlock(&ctx->lock);
	orr_assert_no_lock();
	while ((task = starpu_task_list_pop_front(&list)))
		orr_ctx_push(proc, orr_task_of(task));
}

void orr_ctx_push_slow(struct orr_process *proc, struct orr_task *t)
{
	struct orr_ctx *ctx = proc->core->ctx[t->ctx];
	struct starpu_task *task = t->pub;
	unsigned epoch = ORR_ATOMIC_LOAD(&ctx->epoch);
	int ret, wakes = ctx->policy_wakes;

	orr_assert_no_lock();
	orr_task_assert_of(t, ORR_TASK_OF_POLICY);
	orr_assertf(ORR_ATOMIC_LOAD(&ctx->live) && ctx->policy,
		    "task %s goes to context %u, whose policy has ended", orr_task_name(task),
		    ctx->id);
	ORR_ATOMIC_ADD(&ctx->npushing, 1);
	ret = ctx->policy->push_task(task);
	if (ret == -ENODEV && (ctx->id || !orr_ctx_whole(ctx)))
		put_up(ctx, task);
	else if (ret)
		refuse(ctx, task, ret);
	else if (!wakes)
		orr_ctx_wake_all(proc, ctx);
	/* Did workers join while nobody was looking? */
	if (ret && ORR_ATOMIC_LOAD(&ctx->epoch) != epoch)
		retry(proc, ctx);
	orr_assert(ORR_ATOMIC_LOAD(&ctx->npushing) > 0);
	ORR_ATOMIC_ADD(&ctx->npushing, -1);
}

void orr_ctx_workers_joined(struct orr_process *proc, struct orr_ctx *ctx)
{
	ORR_ATOMIC_ADD(&ctx->epoch, 1);
	retry(proc, ctx);
	if (proc->state == ORR_PROCESS_UP)
		orr_ctx_wake_all(proc, ctx);
}

/* ---- popping ---- */

struct starpu_task *orr_ctx_pop(struct orr_worker *w, struct orr_process *proc)
{
	struct starpu_task *task = NULL;

	orr_worker_assert_mine(w);
	orr_assertf(!ORR_ATOMIC_LOAD(&w->in_ctx), "worker %u is inside a policy already", w->id);
	for (unsigned k = 0; k < STARPU_NMAX_SCHED_CTXS && !task; k++) {
		unsigned id = (w->ctx_turn + k) % STARPU_NMAX_SCHED_CTXS;

		if (!(ORR_ATOMIC_LOAD_RELAXED(&w->ctxs) >> id & 1))
			continue;
		/* The thread that deletes the context clears the bit first and looks at in_ctx
		 * afterwards.
		 */
		ORR_ATOMIC_XCHG(&w->in_ctx, id + 1);
		orr_assertf(!(ORR_ATOMIC_LOAD(&w->ctxs) >> id & 1) || proc->core->ctx[id]->policy,
			    "worker %u is in context %u, which has no policy", w->id, id);
		if (ORR_ATOMIC_LOAD(&w->ctxs) >> id & 1)
			task = proc->core->ctx[id]->policy->pop_task(id);
		ORR_ATOMIC_STORE(&w->in_ctx, 0);
		if (task)
			w->ctx_turn = (id + 1) % STARPU_NMAX_SCHED_CTXS;
	}
	return task;
}

/* ---- counting ---- */

void orr_ctx_task_done(struct orr_process *proc, unsigned id)
{
	struct orr_ctx *ctx = proc->core->ctx[id];
	uint64_t n = ORR_ATOMIC_ADD(&ctx->ncompleted, 1);

	orr_assertf(id && n <= ORR_ATOMIC_LOAD(&ctx->nsubmitted),
		    "context %u completes more tasks than it got", id);
	if (n != ORR_ATOMIC_LOAD(&ctx->nsubmitted))
		return;
	orr_waitq_wake(&proc->done);
	if (ORR_ATOMIC_LOAD(&ctx->state) == ORR_CTX_FINISHED)
		orr_ctx_leave(proc);
}

/* Does it count tasks that the program submitted to it? Those of parallel workers count for the
 * default context. */
static int counts(const struct orr_ctx *ctx)
{
	return ctx && !ORR_ATOMIC_LOAD_RELAXED(&ctx->of_teams);
}

/* Tasks of the default context are those that the process counts and no other context does. The
 * order of reading makes all errors of tasks that come and go meanwhile errors upwards. */
static uint64_t npending_in_default(struct orr_process *proc)
{
	uint64_t done = orr_task_ncompleted(proc), submitted_elsewhere = 0, submitted,
		 done_elsewhere = 0;

	for (unsigned i = 1; i < STARPU_NMAX_SCHED_CTXS; i++)
		if (counts(proc->core->ctx[i]))
			submitted_elsewhere += ORR_ATOMIC_LOAD(&proc->core->ctx[i]->nsubmitted);
	submitted = ORR_ATOMIC_LOAD(&proc->core->nsubmitted);
	for (unsigned i = 1; i < STARPU_NMAX_SCHED_CTXS; i++)
		if (counts(proc->core->ctx[i]))
			done_elsewhere += ORR_ATOMIC_LOAD(&proc->core->ctx[i]->ncompleted);
	uint64_t pending = submitted - submitted_elsewhere - (done - done_elsewhere);

	orr_assertf((int64_t) pending >= 0, "%lld tasks of the default context are pending",
		    (long long) pending);
	return pending;
}

uint64_t orr_ctx_npending(struct orr_process *proc, unsigned id)
{
	const struct orr_ctx *ctx = proc->core->ctx[id];
	uint64_t done;

	if (!id)
		return npending_in_default(proc);
	done = ORR_ATOMIC_LOAD(&ctx->ncompleted);
	orr_assert(done <= ORR_ATOMIC_LOAD(&ctx->nsubmitted));
	return ORR_ATOMIC_LOAD(&ctx->nsubmitted) - done;
}

/* ---- submitting ---- */

int orr_ctx_check(struct orr_process *proc, unsigned id, struct starpu_task *task)
{
	const struct orr_task *by = orr_thread_self()->task;
	unsigned state = id < STARPU_NMAX_SCHED_CTXS && proc->core->ctx[id]
				 ? ORR_ATOMIC_LOAD(&proc->core->ctx[id]->state)
				 : ORR_CTX_FREE;

	if (state == ORR_CTX_OPEN)
		return 0;
	/* Its own tasks keep it from being empty. */
	if ((state == ORR_CTX_FINISHED || state == ORR_CTX_CLOSING) && by && by->ctx == id)
		return 0;
	if (state == ORR_CTX_FREE)
		orr_error(
			"task %s: there is no scheduling context %u; create it, or leave task->sched_ctx at STARPU_NMAX_SCHED_CTXS",
			orr_task_name(task), id);
	else
		orr_error("task %s: submission to scheduling context %u (%s) was declared finished",
			  orr_task_name(task), id, proc->core->ctx[id]->name);
	return -EINVAL;
}

void orr_ctx_cap(struct orr_process *proc, struct orr_task *t)
{
	struct orr_ctx *ctx = proc->core->ctx[t->ctx];
	int max = ORR_ATOMIC_LOAD(&ctx->cap_max), min = ORR_ATOMIC_LOAD(&ctx->cap_min);

	orr_assertf(min <= max, "priorities of context %u are limited to [%d, %d]", ctx->id, min,
		    max);
	if (t->pub->priority > max)
		t->pub->priority = max;
	if (t->pub->priority < min)
		t->pub->priority = min;
}
