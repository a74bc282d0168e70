/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scheduling contexts: creation, change of workers, inheritance, deletion.
 *
 * Invariant: one thread at a time changes contexts (node->ctx_busy). A policy hears of workers that
 * join before they take tasks from it, and of workers that leave after they stopped; it ends when
 * nobody can be inside it any more. */
#include "core/ctx/sched_ctx_life.h"
#include "core/ctx/sched_ctx_query.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/policy.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- one at a time ---- */

static int try_change(struct orr_process *proc)
{
	unsigned free_ = 0;

	return ORR_ATOMIC_CAS(&proc->core->ctx_busy, &free_, 1);
}

/* A policy, too, may change contexts while a worker is inside it: it is not waited for, then.
 * [waits]
 */
static void begin_change(struct orr_process *proc)
{
	const struct orr_worker *w = orr_thread_self()->worker;
	int inside = w && ORR_ATOMIC_LOAD(&w->in_ctx);

	ORR_ATOMIC_ADD(&proc->core->ctx_inside, inside);
	while (!try_change(proc)) {
		unsigned key = orr_waitq_prepare(&proc->done);

		if (!ORR_ATOMIC_LOAD(&proc->core->ctx_busy))
			orr_waitq_cancel(&proc->done);
		else
			orr_waitq_wait(&proc->done, key, 1000);
	}
	ORR_ATOMIC_ADD(&proc->core->ctx_inside, -inside);
}

static void leave_finished(struct orr_process *proc);

/* The caller is the one that changes contexts, or no other thread has begun yet. */
ORR_ASSERTED static int may_change(struct orr_process *proc)
{
	return ORR_ATOMIC_LOAD(&proc->core->ctx_busy) || proc->state == ORR_PROCESS_STARTING;
}

static void end_change(struct orr_process *proc)
{
	do {
		orr_assertf(may_change(proc), "a change of contexts ends that did not begin");
		if (ORR_ATOMIC_XCHG(&proc->core->ctx_leaving, 0))
			leave_finished(proc);
		ORR_ATOMIC_STORE(&proc->core->ctx_busy, 0);
		ORR_ATOMIC_FENCE();
	} while (ORR_ATOMIC_LOAD(&proc->core->ctx_leaving) && try_change(proc));
	orr_waitq_wake(&proc->done);
}

/* ---- workers ---- */

static void see_whether_whole(struct orr_process *proc, struct orr_ctx *ctx)
{
	unsigned i;

	orr_assert(may_change(proc));
	for (i = 0; i < proc->core->nworkers && orr_ctx_has(ctx, &proc->core->workers[i]); i++)
		;
	ORR_ATOMIC_STORE(&ctx->whole, i == proc->core->nworkers);
}

/* Of ids those that exist and are, or are not, in the context: into out. Each once. */
static unsigned select_workers(struct orr_process *proc, const struct orr_ctx *ctx, const int *ids,
			       unsigned n, int in, int *out)
{
	unsigned k, m = 0;

	for (unsigned i = 0; i < n; i++) {
		if (orr_ctx_has(ctx, &proc->core->workers[ids[i]]) != in)
			continue;
		for (k = 0; k < m && out[k] != ids[i]; k++)
			;
		if (k == m)
			out[m++] = ids[i];
	}
	return m;
}

/* The collection of a context has the workers of the context. */
static void check_member(struct orr_process *proc, const struct orr_ctx *ctx, int id)
{
	(void) proc;
	(void) id;
	orr_assert_locked(&ctx->lock);
	orr_assertf(!ctx->collection || !ctx->collection->present[id] ==
						!orr_ctx_has(ctx, &proc->core->workers[id]),
		    "context %u and its collection disagree about worker %d", ctx->id, id);
}

static void join(struct orr_process *proc, struct orr_ctx *ctx, const int *ids, unsigned n)
{
	int add[n + 1];
	unsigned i, m = select_workers(proc, ctx, ids, n, 0, add);

	orr_assertf(may_change(proc), "workers join context %u and others may leave it", ctx->id);
	if (!m)
		return;
	orr_assertf(ORR_ATOMIC_LOAD(&ctx->live) && ctx->policy,
		    "workers join context %u, which has no policy", ctx->id);
	if (ctx->policy->add_workers)
		ctx->policy->add_workers(ctx->id, add, m);
	orr_lock(&ctx->lock);
	for (i = 0; i < m; i++) {
		ORR_ATOMIC_OR(&proc->core->workers[add[i]].ctxs, 1u << ctx->id);
		if (ctx->collection)
			ctx->collection->add(ctx->collection, add[i]);
		check_member(proc, ctx, add[i]);
	}
	orr_unlock(&ctx->lock);
	see_whether_whole(proc, ctx);
	orr_ctx_workers_joined(proc, ctx);
}

static void leave(struct orr_process *proc, struct orr_ctx *ctx, const int *ids, unsigned n)
{
	int away[n + 1];
	unsigned i, m = select_workers(proc, ctx, ids, n, 1, away);

	orr_assertf(may_change(proc), "workers leave context %u and others may join it", ctx->id);
	if (!m)
		return;
	orr_assertf(ORR_ATOMIC_LOAD(&ctx->live) && ctx->policy,
		    "workers leave context %u, which has no policy", ctx->id);
	ORR_ATOMIC_STORE(&ctx->whole, 0);
	orr_lock(&ctx->lock);
	for (i = 0; i < m; i++) {
		ORR_ATOMIC_AND(&proc->core->workers[away[i]].ctxs, ~(1u << ctx->id));
		if (ctx->collection)
			ctx->collection->remove(ctx->collection, away[i]);
		check_member(proc, ctx, away[i]);
	}
	orr_unlock(&ctx->lock);
	if (ctx->policy->remove_workers)
		ctx->policy->remove_workers(ctx->id, away, m);
	/* The tasks that they would have taken are for the others. */
	orr_ctx_wake_all(proc, ctx);
}

/* Those that have left the context and are still looking for a task of it find one now or never:
 * they are waited for, so that none takes a task that is submitted later. [waits] */
static void wait_for_leavers(struct orr_process *proc, const struct orr_ctx *ctx, const int *ids,
			     unsigned n)
{
	const struct orr_worker *self = orr_thread_self()->worker;

	for (unsigned i = 0; i < n; i++) {
		const struct orr_worker *w = &proc->core->workers[ids[i]];

		while (w != self && !orr_ctx_has(ctx, w) &&
		       ORR_ATOMIC_LOAD(&w->in_ctx) == ctx->id + 1 &&
		       !ORR_ATOMIC_LOAD(&proc->core->ctx_inside))
			orr_sys_sleep_us(10);
	}
}

static unsigned members(struct orr_process *proc, const struct orr_ctx *ctx, int *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (orr_ctx_has(ctx, &proc->core->workers[i]))
			out[n++] = (int) i;
	return n;
}

/* All workers go to the inheritor. */
static void bequeath(struct orr_process *proc, struct orr_ctx *ctx)
{
	int ids[proc->core->nworkers + 1];
	unsigned n = members(proc, ctx, ids);
	struct orr_ctx *heir = proc->core->ctx[ORR_ATOMIC_LOAD(&ctx->inheritor)];

	if (heir && heir != ctx && ORR_ATOMIC_LOAD(&heir->state) == ORR_CTX_OPEN)
		join(proc, heir, ids, n);
	leave(proc, ctx, ids, n);
}

static void leave_finished(struct orr_process *proc)
{
	for (unsigned i = 1; i < STARPU_NMAX_SCHED_CTXS; i++) {
		struct orr_ctx *ctx = proc->core->ctx[i];

		if (!ctx || ORR_ATOMIC_LOAD(&ctx->state) != ORR_CTX_FINISHED ||
		    orr_ctx_npending(proc, i))
			continue;
		bequeath(proc, ctx);
		orr_assertf(starpu_task_list_empty(&ctx->homeless),
			    "context %u is left, and tasks wait there for workers", ctx->id);
		ORR_ATOMIC_STORE(&ctx->state, ORR_CTX_LEFT);
	}
}

void orr_ctx_leave(struct orr_process *proc)
{
	ORR_ATOMIC_STORE(&proc->core->ctx_leaving, 1);
	ORR_ATOMIC_FENCE();
	if (try_change(proc))
		end_change(proc);
}

/* ---- arguments ---- */

struct orr_ctx *orr_ctx_get(unsigned id, const char *what)
{
	struct orr_process *proc = orr_self();

	if (id < STARPU_NMAX_SCHED_CTXS && proc->core->ctx[id] &&
	    ORR_ATOMIC_LOAD(&proc->core->ctx[id]->state) != ORR_CTX_FREE)
		return proc->core->ctx[id];
	orr_error("%s: there is no scheduling context %u", what, id);
	return NULL;
}

static int check_workers(struct orr_process *proc, const int *ids, unsigned n, const char *what)
{
	for (unsigned i = 0; i < n; i++) {
		if (ids[i] >= 0 && (unsigned) ids[i] < proc->core->nworkers)
			continue;
		orr_error("%s: there is no worker %d, they are 0 to %d", what, ids[i],
			  (int) proc->core->nworkers - 1);
		return -EINVAL;
	}
	return 0;
}

void starpu_sched_ctx_add_workers(int *workerids_ctx, unsigned nworkers_ctx, unsigned sched_ctx_id)
{
	static const char what[] = "starpu_sched_ctx_add_workers";
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, what);

	if (!ctx || check_workers(proc, workerids_ctx, nworkers_ctx, what))
		return;
	begin_change(proc);
	if (ORR_ATOMIC_LOAD(&ctx->state) == ORR_CTX_OPEN ||
	    ORR_ATOMIC_LOAD(&ctx->state) == ORR_CTX_FINISHED)
		join(proc, ctx, workerids_ctx, nworkers_ctx);
	end_change(proc);
}

void starpu_sched_ctx_remove_workers(int *workerids_ctx, unsigned nworkers_ctx,
				     unsigned sched_ctx_id)
{
	static const char what[] = "starpu_sched_ctx_remove_workers";
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, what);

	if (!ctx || check_workers(proc, workerids_ctx, nworkers_ctx, what))
		return;
	begin_change(proc);
	if (!sched_ctx_id) {
		int ids[proc->core->nworkers + 1], away[nworkers_ctx + 1];

		if (select_workers(proc, ctx, workerids_ctx, nworkers_ctx, 1, away) ==
		    members(proc, ctx, ids)) {
			orr_error(
				"%s: the default context keeps one worker at least, for the tasks of the runtime itself",
				what);
			nworkers_ctx = 0;
		}
	}
	leave(proc, ctx, workerids_ctx, nworkers_ctx);
	wait_for_leavers(proc, ctx, workerids_ctx, nworkers_ctx);
	end_change(proc);
}

void starpu_sched_ctx_set_inheritor(unsigned sched_ctx_id, unsigned inheritor)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_set_inheritor");

	if (ctx && orr_ctx_get(inheritor, "starpu_sched_ctx_set_inheritor"))
		ORR_ATOMIC_STORE(&ctx->inheritor, inheritor);
}

void starpu_sched_ctx_finished_submit(unsigned sched_ctx_id)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_finished_submit");
	unsigned open = ORR_CTX_OPEN;

	if (ctx && sched_ctx_id && ORR_ATOMIC_CAS(&ctx->state, &open, ORR_CTX_FINISHED) &&
	    !orr_ctx_npending(proc, sched_ctx_id))
		orr_ctx_leave(proc);
}

/* ---- creation ---- */

struct request {
	const char *policy_name;
	struct starpu_sched_policy *policy;
	void (*init)(unsigned);
	int *sub, nsub;
};

/* Reads the markers into the context and the request. 0 or -EINVAL after a message. */
static int read_markers(struct orr_ctx *ctx, struct request *rq, va_list ap)
{
	int marker;

	while ((marker = va_arg(ap, int))) {
		switch (marker) {
		case STARPU_SCHED_CTX_POLICY_NAME:
			rq->policy_name = va_arg(ap, const char *);
			break;
		case STARPU_SCHED_CTX_POLICY_STRUCT:
			rq->policy = va_arg(ap, struct starpu_sched_policy *);
			break;
		case STARPU_SCHED_CTX_POLICY_MIN_PRIO:
			ctx->min_prio = va_arg(ap, int);
			ctx->fixed_min = 1;
			break;
		case STARPU_SCHED_CTX_POLICY_MAX_PRIO:
			ctx->max_prio = va_arg(ap, int);
			ctx->fixed_max = 1;
			break;
		case STARPU_SCHED_CTX_HIERARCHY_LEVEL: ctx->level = va_arg(ap, unsigned); break;
		case STARPU_SCHED_CTX_NESTED: ctx->nested = va_arg(ap, unsigned); break;
		case STARPU_SCHED_CTX_AWAKE_WORKERS:
			break; /* they always sleep when there is nothing to do, and wake when there
				  is */
		case STARPU_SCHED_CTX_POLICY_INIT: rq->init = va_arg(ap, void (*)(unsigned)); break;
		case STARPU_SCHED_CTX_USER_DATA: ctx->user_data = va_arg(ap, void *); break;
		case STARPU_SCHED_CTX_CUDA_NSMS: ctx->nsms = va_arg(ap, int); break;
		case STARPU_SCHED_CTX_SUB_CTXS:
			rq->sub = va_arg(ap, int *);
			rq->nsub = va_arg(ap, int);
			break;
		default:
			orr_error(
				"starpu_sched_ctx_create: %d is no marker (STARPU_SCHED_CTX_*); the list ends with 0",
				marker);
			return -EINVAL;
		}
	}
	return 0;
}

/* Checks the markers that name other contexts. */
static int check_relatives(struct orr_ctx *ctx, const struct request *rq)
{
	static const char what[] = "starpu_sched_ctx_create";
	struct orr_ctx *around = ctx->nested == ctx->id ? ctx : orr_ctx_get(ctx->nested, what);

	if (!around)
		return -EINVAL;
	if (around != ctx && !ctx->level)
		ctx->level = around->level + 1;
	for (int i = 0; i < rq->nsub; i++)
		if (rq->sub[i] <= 0 || !orr_ctx_get((unsigned) rq->sub[i], what))
			return -EINVAL;
	for (int i = 0; i < rq->nsub; i++) {
		struct orr_ctx *sub = orr_self()->core->ctx[rq->sub[i]];

		sub->nested = ctx->id;
		sub->level = ctx->level + 1;
	}
	return 0;
}

/* A free context, its fields as new; its counters go on. NULL when there are too many. */
static struct orr_ctx *find_free(struct orr_process *proc, const char *name)
{
	struct orr_ctx *ctx;
	unsigned id;

	orr_assert(may_change(proc));
	for (id = 1; id < STARPU_NMAX_SCHED_CTXS; id++)
		if (!proc->core->ctx[id] ||
		    ORR_ATOMIC_LOAD(&proc->core->ctx[id]->state) == ORR_CTX_FREE)
			break;
	if (id == STARPU_NMAX_SCHED_CTXS) {
		orr_error(
			"starpu_sched_ctx_create: there are %d scheduling contexts already (STARPU_NMAX_SCHED_CTXS); delete one",
			STARPU_NMAX_SCHED_CTXS);
		return NULL;
	}
	ctx = proc->core->ctx[id];
	if (!ctx) {
		ctx = aligned_alloc(ORR_LINE, sizeof(*ctx));
		if (!ctx)
			return NULL;
		memset(ctx, 0, sizeof(*ctx));
		orr_lock_init(&ctx->lock, ORR_RANK_CTX);
		ctx->id = id;
		proc->core->ctx[id] = ctx;
	}
	orr_assertf(!ctx->policy && !ORR_ATOMIC_LOAD(&ctx->live) && !ctx->collection && !ctx->name,
		    "context %u is made anew and was not given back", id);
	orr_assertf(ORR_ATOMIC_LOAD(&ctx->nsubmitted) == ORR_ATOMIC_LOAD(&ctx->ncompleted),
		    "context %u is made anew and has tasks", id);
	ctx->name = strdup(name ? name : "unnamed");
	ctx->user_data = ctx->policy_data = ctx->program_data = NULL;
	ctx->fixed_min = ctx->fixed_max = 0;
	ctx->min_prio = ctx->max_prio = 0;
	ctx->cap_min = INT_MIN;
	ctx->cap_max = INT_MAX;
	ctx->inheritor = 0;
	ctx->close_callback = NULL;
	ctx->nested = id;
	ctx->level = 0;
	ctx->nsms = -1;
	ctx->whole = 0;
	ORR_ATOMIC_STORE_RELAXED(&ctx->of_teams, 0);
	starpu_task_list_init(&ctx->homeless);
	return ctx->name ? ctx : NULL;
}

static void forget(struct orr_ctx *ctx)
{
	free(ctx->name);
	ctx->name = NULL;
	if (ctx->collection) {
		ctx->collection->deinit(ctx->collection);
		free(ctx->collection);
		ctx->collection = NULL;
	}
}

/* The caller has made sure that contexts may be changed. Returns 0 or -EINVAL. */
static int create(struct orr_process *proc, struct orr_ctx *ctx, const struct request *rq, int *ids,
		  unsigned n)
{
	struct starpu_sched_policy *policy = rq->policy;
	int ret = check_relatives(ctx, rq);

	if (ret)
		return ret;
	ORR_ATOMIC_STORE(&ctx->state, ORR_CTX_CLOSING);
	ctx->own_policy = policy || rq->policy_name;
	if (!policy)
		policy = rq->policy_name ? proc->core->policies->find(proc, rq->policy_name)
					 : proc->core->policies->together;
	ret = policy ? orr_policy_start(proc, ctx, policy) : -EINVAL;
	if (ret) {
		ORR_ATOMIC_STORE(&ctx->state, ORR_CTX_FREE);
		return ret;
	}
	if (rq->init)
		rq->init(ctx->id);
	ORR_ATOMIC_ADD(&proc->core->nctxs, 1);
	ORR_ATOMIC_STORE(&ctx->state, ORR_CTX_OPEN);
	join(proc, ctx, ids, n);
	return 0;
}

unsigned starpu_sched_ctx_create(int *workerids_ctx, int nworkers_ctx, const char *sched_ctx_name,
				 ...)
{
	static const char what[] = "starpu_sched_ctx_create";
	struct orr_process *proc = orr_self();
	struct request rq = { 0 };
	struct orr_ctx *ctx;
	int all[proc->core->nworkers + 1], ret;
	unsigned i, n = nworkers_ctx < 0 ? proc->core->nworkers : (unsigned) nworkers_ctx;
	va_list ap;

	if (proc->state != ORR_PROCESS_UP) {
		orr_error("%s: call starpu_init first", what);
		return STARPU_NMAX_SCHED_CTXS;
	}
	for (i = 0; i < proc->core->nworkers; i++)
		all[i] = (int) i;
	if (!workerids_ctx || nworkers_ctx < 0)
		workerids_ctx = all;
	if (check_workers(proc, workerids_ctx, n, what))
		return STARPU_NMAX_SCHED_CTXS;
	begin_change(proc);
	ctx = find_free(proc, sched_ctx_name);
	ret = ctx ? 0 : -EINVAL;
	if (ctx) {
		va_start(ap, sched_ctx_name);
		ret = read_markers(ctx, &rq, ap);
		va_end(ap);
		if (!ret)
			ret = create(proc, ctx, &rq, workerids_ctx, n);
		if (ret)
			forget(ctx);
	}
	end_change(proc);
	return ret ? STARPU_NMAX_SCHED_CTXS : ctx->id;
}

/* ---- deletion ---- */

/* Waits until nobody can be inside the policy: its workers left, its tasks are over. [waits] */
static void wait_for_quiet(struct orr_process *proc, const struct orr_ctx *ctx)
{
	orr_assertf(!ORR_ATOMIC_LOAD(&ctx->live),
		    "new callers of the policy of context %u may come", ctx->id);
	while (ORR_ATOMIC_LOAD(&ctx->npushing))
		orr_sys_sleep_us(10);
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		while (ORR_ATOMIC_LOAD(&proc->core->workers[i].in_ctx) == ctx->id + 1)
			orr_sys_sleep_us(10);
}

void starpu_sched_ctx_delete(unsigned sched_ctx_id)
{
	static const char what[] = "starpu_sched_ctx_delete";
	struct orr_thread *self = orr_thread_self();
	struct orr_process *proc = self->proc;
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, what);
	void (*close_callback)(unsigned, void *);
	void *close_arg;

	if (!ctx)
		return;
	if (!sched_ctx_id) {
		orr_error("%s: the default context stays until starpu_shutdown", what);
		return;
	}
	if (self->task) {
		orr_error("%s called inside task or callback %s, which it would wait for", what,
			  orr_task_name(self->task->pub));
		return;
	}
	begin_change(proc);
	if (ORR_ATOMIC_LOAD(&ctx->state) != ORR_CTX_LEFT)
		ORR_ATOMIC_STORE(&ctx->state, ORR_CTX_CLOSING);
	end_change(proc);
	/* Without workers of its own the inheritor's may be needed for what is left. */
	starpu_task_wait_for_all_in_ctx(sched_ctx_id);
	begin_change(proc);
	bequeath(proc, ctx);
	ORR_ATOMIC_STORE(&ctx->state, ORR_CTX_CLOSING);
	ORR_ATOMIC_STORE(&ctx->live, 0);
	wait_for_quiet(proc, ctx);
	orr_assertf(!orr_ctx_npending(proc, sched_ctx_id), "context %u ends and has tasks",
		    sched_ctx_id);
	orr_policy_stop(ctx);
	close_callback = ORR_ATOMIC_LOAD(&ctx->close_callback);
	close_arg = ctx->close_arg;
	forget(ctx);
	orr_assert(ORR_ATOMIC_LOAD(&proc->core->nctxs) > 1);
	ORR_ATOMIC_ADD(&proc->core->nctxs, (unsigned) -1);
	ORR_ATOMIC_STORE(&ctx->state, ORR_CTX_FREE);
	end_change(proc);
	if (self->ctx == sched_ctx_id + 1)
		self->ctx = 0;
	if (close_callback)
		close_callback(sched_ctx_id, close_arg);
}

/* ---- start and end of the process's ---- */

int orr_ctx_init(struct orr_process *proc, struct starpu_sched_policy *policy)
{
	struct orr_ctx *ctx = &proc->core->ctx0;
	int ids[proc->core->nworkers + 1], ret;

	memset(ctx, 0, sizeof(*ctx));
	orr_lock_init(&ctx->lock, ORR_RANK_CTX);
	memset(proc->core->ctx, 0, sizeof(proc->core->ctx));
	proc->core->ctx[0] = ctx;
	proc->core->nctxs = 1;
	proc->core->ctx_busy = proc->core->ctx_leaving = proc->nholding = 0;
	ctx->nsms = -1;
	ctx->cap_min = INT_MIN;
	ctx->cap_max = INT_MAX;
	ctx->state = ORR_CTX_OPEN;
	ctx->name = strdup("default");
	starpu_task_list_init(&ctx->homeless);
	ret = ctx->name ? orr_ctx_prios_by_conf(proc, ctx) : -ENOMEM;
	if (!ret)
		ret = orr_policy_start(proc, ctx, policy);
	if (ret)
		return ret;
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		ids[i] = (int) i;
	join(proc, ctx, ids, proc->core->nworkers);
	if (!proc->core->nworkers)
		ctx->whole = 1;
	return 0;
}

void orr_ctx_exit(struct orr_process *proc)
{
	for (unsigned i = STARPU_NMAX_SCHED_CTXS; i-- > 0;) {
		struct orr_ctx *ctx = proc->core->ctx[i];

		if (!ctx)
			continue;
		orr_assert(ctx->id == i && !ORR_ATOMIC_LOAD(&proc->core->ctx_busy));
		if (ctx->state != ORR_CTX_FREE)
			orr_policy_stop(ctx);
		forget(ctx);
		if (i)
			free(ctx);
		else
			ctx->state = ORR_CTX_FREE;
		proc->core->ctx[i] = NULL;
	}
	proc->core->nctxs = 0;
}
