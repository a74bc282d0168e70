/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scheduling contexts: sets of workers, each with its own instance of a policy
 * (starpu_sched_ctx.h).
 *
 * Context 0 is the default one; it is there from start to end, and has all workers until the
 * program takes some away. The others are made on demand; their memory stays until the end, so that
 * a pointer to one is never dangling. A worker may be in several contexts and takes tasks from them
 * in turn.
 *
 * Invariant: bit i of worker->ctxs says whether the worker takes tasks from context i; only whoever
 * holds core->ctx_busy changes it. A task that is counted in a context and not yet completed keeps
 * the context's policy alive. */
#ifndef ORR_CORE_SCHED_CTX_H
#define ORR_CORE_SCHED_CTX_H

#include "core/task/task_life.h"
#include "core/worker/wake.h"

enum orr_ctx_state {
	ORR_CTX_FREE, /* may be made anew */
	ORR_CTX_OPEN,
	ORR_CTX_FINISHED, /* the program submits no more: its workers go to the inheritor when it is
			     empty */
	ORR_CTX_LEFT,     /* they went */
	ORR_CTX_CLOSING   /* being made or deleted */
};

/* Are all workers in the context? Then any of them may be woken for it. */
static inline int orr_ctx_whole(const struct orr_ctx *ctx)
{
	return ORR_ATOMIC_LOAD_RELAXED(&ctx->whole);
}

static inline int orr_ctx_has(const struct orr_ctx *ctx, const struct orr_worker *w)
{
	return ORR_ATOMIC_LOAD(&w->ctxs) >> ctx->id & 1;
}

/* The context of a task that was submitted. */
static inline struct orr_ctx *orr_ctx_of(const struct starpu_task *task)
{
	return orr_self()->core->ctx[orr_task_of(task)->ctx];
}

/* May workers of one kind be refused the task? Then one that is woken may leave it to another, and
 * all are to be woken. To be asked before the task is where workers find it. */
static inline int orr_task_is_choosy(const struct starpu_task *task)
{
	return task->workerids_len || (task->cl && task->cl->can_execute);
}

/* [any] The task is ready: brings its priority into the range of its context. To be called only
 * where core->prio_caps is set. */
void orr_ctx_cap(struct orr_process *proc, struct orr_task *t);

/* A worker of the context that sleeps is woken, or all of them; that queued a task which is choosy
 * or not. */
void orr_ctx_wake_some(struct orr_process *proc, struct orr_ctx *ctx);
void orr_ctx_wake_all(struct orr_process *proc, struct orr_ctx *ctx);
static inline void orr_ctx_wake(struct orr_process *proc, struct orr_ctx *ctx, int choosy)
{
	if (__builtin_expect(choosy, 0))
		orr_ctx_wake_all(proc, ctx);
	else if (__builtin_expect(orr_ctx_whole(ctx), 1))
		orr_wake_one(proc);
	else
		orr_ctx_wake_some(proc, ctx);
}

/* Hands a ready task to the policy of its context; without a worker that could execute it it waits
 * for one. */
void orr_ctx_push_slow(struct orr_process *proc, struct orr_task *t);
static inline void orr_ctx_push(struct orr_process *proc, struct orr_task *t)
{
	struct orr_ctx *ctx = &proc->core->ctx0;

	orr_task_assert_of(t, ORR_TASK_OF_POLICY);
	/* From here on the task belongs to whoever pops it, unless it is refused. */
	if (__builtin_expect(t->ctx || !orr_ctx_whole(ctx), 0) ||
	    __builtin_expect(ctx->policy->push_task(t->pub) != 0, 0))
		orr_ctx_push_slow(proc, t);
	else if (!ctx->policy_wakes)
		orr_wake_all(proc);
}
/* A task for worker w from the contexts that it is in, when these are not just the default one. */
struct starpu_task *orr_ctx_pop(struct orr_worker *w, struct orr_process *proc);

/* May the calling thread submit to context id? 0 or -EINVAL after a message. */
int orr_ctx_check(struct orr_process *proc, unsigned id, struct starpu_task *task);
/* A task of context id (not 0) is over; to be said before the process counts it, and its submission
 * after. */
void orr_ctx_task_done(struct orr_process *proc, unsigned id);
/* Tasks of a context that are submitted and not over; never fewer than there are. */
uint64_t orr_ctx_npending(struct orr_process *proc, unsigned id);

/* Workers joined: what had nobody to execute it is pushed again. */
void orr_ctx_workers_joined(struct orr_process *proc, struct orr_ctx *ctx);

/* The context in which the calling thread submits: what it chose, else that of the task that it
 * executes, else 0. That of parallel workers is the default one to the program. */
static inline unsigned orr_ctx_current(const struct orr_thread *self)
{
	unsigned id = self->task ? self->task->ctx : 0;

	if (__builtin_expect(self->ctx != 0, 0))
		return self->ctx - 1;
	return __builtin_expect(id != 0, 0) && self->proc->core->ctx[id]->of_teams ? 0 : id;
}

#endif
