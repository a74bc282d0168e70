/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policies with one queue for each worker: lws (a worker keeps the tasks that it made ready,
 * and steals from its neighbours first), ws (the same, stealing in turn from all) and random
 * (workers are drawn with a probability proportional to their speed; no stealing).
 *
 * Invariant: a task that only some workers can execute is queued at one of those. */
#include "sched/sched.h"
#include "perf/estimate.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_query.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"
#include "core/worker/wake.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct local {
	unsigned n;
	enum { STEAL_NOT, STEAL_NEAR, STEAL_IN_TURN } steal;
	unsigned *victim; /* of each worker: where it steals next; only that worker uses it */
	double *speed;    /* sums of the speeds of the workers up to each */
	int counts;       /* one thread steps all workers: it need not look into each queue */
	unsigned nqueued; /* atomic, with counts only: tasks in all queues, or about to be there */
	struct orr_shq queue[];
};

static void local_init(unsigned ctx, int steal, int by_speed)
{
	struct orr_process *proc = orr_self();
	unsigned n = proc->core->nworkers ? proc->core->nworkers : 1;
	size_t size = sizeof(struct local) + n * sizeof(struct orr_shq);
	struct local *l = aligned_alloc(ORR_LINES,
					(size + ORR_LINES - 1) & ~(size_t) (ORR_LINES - 1));

	if (!l)
		orr_fatal("out of memory for the scheduling policy");
	memset(l, 0, size);
	l->n = n;
	l->counts = proc->ngroups == 1 && n > 1;
	l->steal = steal;
	l->victim = calloc(n, sizeof(*l->victim));
	l->speed = calloc(n, sizeof(*l->speed));
	if (!l->victim || !l->speed)
		orr_fatal("out of memory for the scheduling policy");
	for (unsigned i = 0; i < n; i++) {
		l->victim[i] = i + 1;
		if (by_speed && i < proc->core->nworkers)
			l->speed[i] = (i ? l->speed[i - 1] : 0) +
				      orr_estimate_flops(proc, proc->core->workers[i].perf_arch);
	}
	for (unsigned i = 0; i < n; i++)
		orr_shq_init(&l->queue[i]);
	proc->core->ctx[ctx]->policy_data = l;
	orr_ctx_set_prios(proc->core->ctx[ctx], INT_MIN, INT_MAX);
}

static void lws_init(unsigned ctx)
{
	local_init(ctx, STEAL_NEAR, 0);
}
static void ws_init(unsigned ctx)
{
	local_init(ctx, STEAL_IN_TURN, 0);
}
static void random_init(unsigned ctx)
{
	local_init(ctx, STEAL_NOT, 1);
}

static void local_deinit(unsigned ctx)
{
	struct local *l = orr_self()->core->ctx[ctx]->policy_data;

	orr_assertf(!ORR_ATOMIC_LOAD(&l->nqueued), "tasks are queued when the policy ends");
	for (unsigned i = 0; i < l->n; i++)
		orr_shq_exit(&l->queue[i]);
	free(l->victim);
	free(l->speed);
	free(l);
}

static void push(struct local *l, unsigned worker, struct starpu_task *task)
{
	orr_assertf(worker < l->n, "a task goes to worker %u of %u", worker, l->n);
	if (__builtin_expect(l->counts, 0))
		ORR_ATOMIC_ADD(&l->nqueued, 1);
	orr_shq_push(&l->queue[worker], task, 1);
}

/* Others may take it. */
static int push_shared(struct orr_process *proc, struct orr_ctx *ctx, unsigned worker,
		       struct starpu_task *task)
{
	int choosy = orr_task_is_choosy(task);

	push(ctx->policy_data, worker, task);
	orr_ctx_wake(proc, ctx, choosy);
	return 0;
}

/* It is for that worker, unless it has just left: then the others take its tasks. */
static int push_private(struct orr_process *proc, struct orr_ctx *ctx, unsigned worker,
			struct starpu_task *task)
{
	push(ctx->policy_data, worker, task);
	if (orr_ctx_has(ctx, &proc->core->workers[worker]))
		orr_wake_worker(&proc->core->workers[worker]);
	else
		orr_ctx_wake_all(proc, ctx);
	return 0;
}

/* The first worker from `start` on that can execute the task; nworkers when there is none. */
static unsigned find_worker(struct orr_process *proc, const struct orr_ctx *ctx, unsigned start,
			    struct starpu_task *task)
{
	int whole = orr_ctx_whole(ctx);

	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		unsigned w = (start + i) % proc->core->nworkers;

		if ((whole || orr_ctx_has(ctx, &proc->core->workers[w])) &&
		    orr_task_first_impl(&proc->core->workers[w], task) >= 0)
			return w;
	}
	return proc->core->nworkers;
}

static int lws_push(struct starpu_task *task)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_process *proc = self->proc;
	struct orr_ctx *ctx = proc->core->ctx[orr_task_of(task)->ctx];
	unsigned w;

	if (proc->core->nworkers == 1 && orr_ctx_whole(ctx))
		return push_shared(proc, ctx, 0, task);
	w = self->worker ? self->worker->id
			 : ORR_ATOMIC_ADD_RELAXED(&proc->core->rr, 1) % proc->core->nworkers;
	w = find_worker(proc, ctx, w, task);
	return w == proc->core->nworkers ? -ENODEV : push_shared(proc, ctx, w, task);
}

/* A task from the queue of another worker. */
static struct starpu_task *steal(struct orr_thread *self, const struct orr_ctx *c, struct local *l)
{
	struct orr_worker *w = self->worker;
	unsigned first = l->steal == STEAL_IN_TURN ? l->victim[w->id] : w->id + 1;

	orr_assert(w->id < l->n && first <= l->n);
	if (!l->steal && orr_ctx_whole(c))
		return NULL;
	for (unsigned i = 0; i < l->n; i++) {
		unsigned from = (first + i) % l->n;

		/* The tasks of a worker that left the context are for all. */
		if (from == w->id ||
		    (!l->steal && orr_ctx_has(c, &self->proc->core->workers[from])))
			continue;
		struct starpu_task *task = orr_shq_pop(&l->queue[from], w, 1);
		if (task) {
			l->victim[w->id] = from + 1;
			return task;
		}
	}
	return NULL;
}

static inline struct starpu_task *lws_take(struct orr_thread *self, const struct orr_ctx *c,
					   struct local *l)
{
	struct starpu_task *task = orr_shq_pop(&l->queue[self->worker->id], self->worker, 0);

	return task ? task : steal(self, c, l);
}

static struct starpu_task *local_pop(unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_ctx *c = self->proc->core->ctx[ctx];
	struct local *l = c->policy_data;
	struct starpu_task *task;

	if (__builtin_expect(!l->counts, 1))
		return lws_take(self, c, l);
	if (!ORR_ATOMIC_LOAD(&l->nqueued))
		return NULL;
	task = lws_take(self, c, l);
	orr_assertf(!task || ORR_ATOMIC_LOAD(&l->nqueued) > 0,
		    "more tasks are taken than were queued");
	if (task)
		ORR_ATOMIC_ADD(&l->nqueued, -1);
	return task;
}

double orr_sched_random_below(struct orr_process *proc, double end)
{
	double x;

	orr_lock(&proc->lock);
	x = (double) (orr_random(proc) >> 11) * 0x1p-53;
	orr_unlock(&proc->lock);
	orr_assert(x >= 0 && x < 1 && end >= 0);
	return x * end;
}

static int is_able(struct orr_process *proc, const struct orr_ctx *ctx, unsigned w,
		   struct starpu_task *task)
{
	return (orr_ctx_whole(ctx) || orr_ctx_has(ctx, &proc->core->workers[w])) &&
	       orr_task_first_impl(&proc->core->workers[w], task) >= 0;
}

/* In proportion to their speeds, of the workers that can execute the task; nworkers when there is
 * none. Mostly all can, and the first draw counts; a draw that does not is made again among the
 * able. */
static unsigned draw(struct orr_process *proc, const struct orr_ctx *ctx, const struct local *l,
		     struct starpu_task *task)
{
	double x = orr_sched_random_below(proc, l->speed[proc->core->nworkers - 1]), sum = 0,
	       speed[proc->core->nworkers];
	unsigned w, drawn = proc->core->nworkers;

	for (w = 0; w + 1 < proc->core->nworkers && l->speed[w] <= x; w++)
		;
	if (is_able(proc, ctx, w, task))
		return w;
	for (w = 0; w < proc->core->nworkers; w++) {
		speed[w] = is_able(proc, ctx, w, task) ? l->speed[w] - (w ? l->speed[w - 1] : 0)
						       : 0;
		sum += speed[w];
	}
	x = orr_sched_random_below(proc, sum);
	for (w = 0; w < proc->core->nworkers && (drawn == proc->core->nworkers || x >= 0); w++) {
		if (!(speed[w] > 0))
			continue;
		drawn = w;
		x -= speed[w];
	}
	return drawn;
}

static int random_push(struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = proc->core->ctx[orr_task_of(task)->ctx];
	unsigned w = draw(proc, ctx, ctx->policy_data, task);

	return w == proc->core->nworkers ? -ENODEV : push_private(proc, ctx, w, task);
}

struct starpu_sched_policy orr_sched_lws = {
	.init_sched = lws_init,
	.deinit_sched = local_deinit,
	.push_task = lws_push,
	.pop_task = local_pop,
	.policy_name = "lws",
	.policy_description = "locality work stealing: one queue per worker, neighbours steal",
	.worker_type = STARPU_WORKER_LIST,
};

struct starpu_sched_policy orr_sched_ws = {
	.init_sched = ws_init,
	.deinit_sched = local_deinit,
	.push_task = lws_push,
	.pop_task = local_pop,
	.policy_name = "ws",
	.policy_description =
		"work stealing: one queue per worker, idle workers steal in turn from all",
	.worker_type = STARPU_WORKER_LIST,
};

struct starpu_sched_policy orr_sched_random = {
	.init_sched = random_init,
	.deinit_sched = local_deinit,
	.push_task = random_push,
	.pop_task = local_pop,
	.policy_name = "random",
	.policy_description = "tasks go to workers drawn at random, in proportion to their speeds",
	.worker_type = STARPU_WORKER_LIST,
};
