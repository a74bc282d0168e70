/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy heteroprio: one bucket of ready tasks for each codelet (and where), and each kind of
 * unit takes from the buckets in its own order.
 *
 * A kind prefers the codelets in which it beats the others most, by the codelets' models; codelets
 * without one come where nobody is faster. A slower kind leaves a bucket alone as long as the
 * faster units would finish it before the slower one finished a single task. Inside a bucket: most
 * urgent first. One lock: the policy is for tasks worth being placed, not for tiny ones.
 *
 * With a plan of the program's (heteroprio_plan.c) a task's bucket is its priority, the orders are
 * the plan's, and so are the times, as multiples of the fastest kind's. Tasks for other kinds, or
 * of which single workers may be refused, stand in buckets of their own of the same number.
 *
 * With locality, a worker takes from its bucket, among equally urgent tasks, the one that misses
 * least data on its memory node.
 *
 * Invariant: a bucket's mean times are those of its tasks pushed so far, one in SAMPLE_EVERY. */
#include "sched/heteroprio.h"
#include "sched/sched.h"
#include "sched/dm.h"
#include "core/task/expect.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_query.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"
#include "data/data.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_EVERY 16

struct bucket {
	const struct starpu_codelet *cl;
	uint32_t where; /* kinds of units that its tasks may use */
	int picky;      /* its tasks may refuse single workers: they wait for nobody */
	unsigned id;    /* its number in the plan; 0 without one */
	struct orr_taskq q;
	uint64_t npushed;
	double us[STARPU_NARCH]; /* mean time by kind of unit, 0: unknown or impossible */
};

struct orr_heteroprio {
	orr_lock_t lock; /* protects everything */
	unsigned nworkers[STARPU_NARCH];
	struct orr_worker *lead[STARPU_NARCH];
	uint8_t *member;                  /* by worker: in the context */
	struct orr_heteroprio_plan *plan; /* the program's, or NULL */
	struct bucket **bucket;
	unsigned n, cap;
	unsigned *order[STARPU_NARCH]; /* buckets as each kind likes them */
	unsigned ntasks;               /* atomic hint */
	int locality;
};

struct orr_heteroprio *orr_heteroprio_new(struct orr_process *proc)
{
	struct orr_heteroprio *h = calloc(1, sizeof(*h));

	if (h)
		h->member = calloc(proc->core->nworkers + 1, 1);
	if (!h || !h->member)
		orr_fatal("out of memory for the scheduling policy");
	orr_lock_init(&h->lock, ORR_RANK_HETEROPRIO);
	h->locality = proc->cfg->heteroprio_locality;
	return h;
}

static void sort(struct orr_heteroprio *h);

void orr_heteroprio_member(struct orr_process *proc, struct orr_heteroprio *h, unsigned worker,
			   int in)
{
	orr_lock(&h->lock);
	orr_assertf(worker < proc->core->nworkers, "worker %u of %u", worker, proc->core->nworkers);
	h->member[worker] = (uint8_t) in;
	memset(h->nworkers, 0, sizeof(h->nworkers));
	memset(h->lead, 0, sizeof(h->lead));
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		struct orr_worker *w = &proc->core->workers[i];

		if (h->member[i] && !h->nworkers[w->arch]++)
			h->lead[w->arch] = w;
	}
	sort(h);
	orr_unlock(&h->lock);
}

void orr_heteroprio_free(struct orr_heteroprio *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		orr_taskq_exit(&h->bucket[i]->q);
		free(h->bucket[i]);
	}
	for (unsigned i = 0; i < STARPU_NARCH; i++)
		free(h->order[i]);
	orr_heteroprio_plan_free(h->plan);
	free(h->bucket);
	free(h->member);
	free(h);
}

void orr_heteroprio_set_locality(struct orr_heteroprio *h, int on)
{
	orr_lock(&h->lock);
	h->locality = on;
	orr_unlock(&h->lock);
}

struct orr_heteroprio_plan *orr_heteroprio_plan_get(struct orr_heteroprio *h)
{
	if (h->n)
		return NULL;
	if (!h->plan)
		h->plan = orr_heteroprio_plan_new();
	return h->plan;
}

/* ---- buckets, under the lock ---- */

/* The speed relative to the best of the other kinds; 1 when that is not known. */
static double advantage(const struct orr_heteroprio *h, const struct bucket *b, unsigned arch)
{
	double others = INFINITY;

	for (unsigned a = 0; a < STARPU_NARCH; a++)
		if (a != arch && h->nworkers[a] && b->us[a] > 0)
			others = fmin(others, b->us[a]);
	return b->us[arch] > 0 && isfinite(others) ? others / b->us[arch] : 1;
}

/* Insertion sort: there are few codelets, and they are nearly in order. */
static void sort(struct orr_heteroprio *h)
{
	unsigned k;

	orr_assert_locked(&h->lock);
	for (unsigned a = 0; a < STARPU_NARCH; a++) {
		unsigned *v = h->order[a];

		for (unsigned i = 1; i < h->n && h->nworkers[a]; i++) {
			unsigned x = v[i];
			double ax = advantage(h, h->bucket[x], a);

			for (k = i; k > 0 && advantage(h, h->bucket[v[k - 1]], a) < ax; k--)
				v[k] = v[k - 1];
			v[k] = x;
		}
	}
}

static void grow(struct orr_heteroprio *h)
{
	unsigned a, cap = h->cap ? 2 * h->cap : 16;

	h->bucket = realloc(h->bucket, cap * sizeof(*h->bucket));
	for (a = 0; a < STARPU_NARCH; a++) {
		h->order[a] = realloc(h->order[a], cap * sizeof(unsigned));
		if (!h->bucket || !h->order[a])
			orr_fatal("out of memory for the buckets of heteroprio");
	}
	h->cap = cap;
}

static struct bucket *make(struct orr_heteroprio *h)
{
	struct bucket *b = calloc(1, sizeof(*b));

	orr_assert_locked(&h->lock);
	orr_assert(h->n <= h->cap);
	if (h->n == h->cap)
		grow(h);
	if (!b)
		orr_fatal("out of memory for the buckets of heteroprio");
	orr_taskq_init(&b->q);
	for (unsigned a = 0; a < STARPU_NARCH; a++)
		h->order[a][h->n] = h->n;
	h->bucket[h->n++] = b;
	return b;
}

static struct bucket *find(struct orr_heteroprio *h, const struct starpu_task *task)
{
	const struct orr_task *t = orr_task_of(task);
	int picky = task->cl->can_execute || task->workerids_len || t->forced_impl;
	const struct starpu_codelet *cl = h->plan ? NULL : task->cl;
	unsigned id = h->plan ? (unsigned) task->priority : 0;
	struct bucket *b;

	for (unsigned i = 0; i < h->n; i++) {
		b = h->bucket[i];
		if (b->cl == cl && b->id == id && b->where == t->where && b->picky == picky)
			return b;
	}
	b = make(h);
	b->cl = cl;
	b->id = id;
	b->where = t->where;
	b->picky = picky;
	for (unsigned a = 0; a < STARPU_NARCH && h->plan && !picky; a++)
		if (t->where & STARPU_WORKER_TO_MASK(a))
			b->us[a] = h->plan->times[id][a];
	return b;
}

/* Mean over the tasks that were looked at. */
static void sample(struct orr_heteroprio *h, struct bucket *b, const double *us)
{
	double weight = 1.0 / (double) (b->npushed / SAMPLE_EVERY + 1);

	for (unsigned a = 0; a < STARPU_NARCH; a++)
		if (us[a] > 0)
			b->us[a] = b->us[a] > 0 ? b->us[a] + weight * (us[a] - b->us[a]) : us[a];
	sort(h);
}

/* ---- tasks ---- */

static void expected(struct orr_process *proc, struct orr_worker *const *lead,
		     struct starpu_task *task, double *us)
{
	for (unsigned a = 0; a < STARPU_NARCH; a++) {
		us[a] = 0;
		for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS && lead[a]; i++) {
			double x;

			if (!orr_task_can_run(lead[a], task, i))
				continue;
			x = orr_expect_us(proc, lead[a]->perf_arch, task, i, task->flops > 0, NULL);
			if (x > 0 && (us[a] == 0 || x < us[a]))
				us[a] = x;
		}
	}
}

int orr_heteroprio_push(struct orr_process *proc, struct orr_heteroprio *h,
			struct starpu_task *task)
{
	struct orr_worker *lead[STARPU_NARCH];
	double us[STARPU_NARCH];
	struct bucket *b;
	int look;

	if (h->plan && orr_heteroprio_plan_check(h->plan, task))
		return -EINVAL;
	orr_lock(&h->lock);
	b = find(h, task);
	memcpy(lead, h->lead, sizeof(lead));
	look = !h->plan && !b->picky && b->npushed % SAMPLE_EVERY == 0 &&
	       proc->arch_mask & (proc->arch_mask - 1);
	orr_unlock(&h->lock);
	/* Models may call functions of the program: not under the lock. */
	if (look)
		expected(proc, lead, task, us);
	orr_lock(&h->lock);
	orr_assertf(!h->plan || b->id == (unsigned) task->priority,
		    "task %s of bucket %d comes to bucket %u", orr_task_name(task), task->priority,
		    b->id);
	if (look)
		sample(h, b, us);
	b->npushed++;
	if (orr_taskq_push(&b->q, task, task->priority))
		orr_fatal("out of memory while queueing task %s", orr_task_name(task));
	ORR_ATOMIC_STORE_RELAXED(&h->ntasks, h->ntasks + 1);
	orr_unlock(&h->lock);
	return 0;
}

unsigned orr_heteroprio_ntasks(const struct orr_heteroprio *h)
{
	return ORR_ATOMIC_LOAD_RELAXED(&h->ntasks);
}

/* Would the faster units be done with the whole bucket before this kind was done with one task of
 * it? */
static int leave_to_faster(const struct orr_heteroprio *h, const struct bucket *b, unsigned arch)
{
	double rate = 0;

	if (!(b->us[arch] > 0))
		return 0;
	for (unsigned a = 0; a < STARPU_NARCH; a++)
		if (h->nworkers[a] && b->us[a] > 0 && b->us[a] < b->us[arch])
			rate += h->nworkers[a] / b->us[a];
	return b->q.ntasks < rate * b->us[arch];
}

static struct starpu_task *pop_from(const struct orr_heteroprio *h, struct bucket *b,
				    struct orr_worker *w)
{
	if (!b->q.ntasks || leave_to_faster(h, b, w->arch))
		return NULL;
	return h->locality && orr_self()->data->nmemnodes > 1 ? orr_dm_pop_ready(&b->q, w)
							      : orr_taskq_pop(&b->q, w, 0);
}

static struct starpu_task *pop_learnt(const struct orr_heteroprio *h, struct orr_worker *w)
{
	struct starpu_task *task = NULL;

	for (unsigned i = 0; i < h->n && !task; i++)
		task = pop_from(h, h->bucket[h->order[w->arch][i]], w);
	return task;
}

static struct starpu_task *pop_planned(const struct orr_heteroprio *h, struct orr_worker *w)
{
	const struct orr_heteroprio_plan *plan = h->plan;
	struct starpu_task *task = NULL;

	for (unsigned k = 0; k < plan->nlooks[w->arch] && !task; k++)
		for (unsigned i = 0; i < h->n && !task; i++)
			if (h->bucket[i]->id == plan->look[w->arch][k])
				task = pop_from(h, h->bucket[i], w);
	return task;
}

struct starpu_task *orr_heteroprio_pop(struct orr_heteroprio *h, struct orr_worker *w)
{
	struct starpu_task *task;

	if (!ORR_ATOMIC_LOAD_RELAXED(&h->ntasks))
		return NULL;
	orr_lock(&h->lock);
	task = h->plan ? pop_planned(h, w) : pop_learnt(h, w);
	orr_assertf(!task || h->ntasks > 0, "more tasks are taken than came");
	if (task)
		ORR_ATOMIC_STORE_RELAXED(&h->ntasks, h->ntasks - 1);
	orr_unlock(&h->lock);
	return task;
}

/* ---- the policy ---- */

static void init(unsigned ctx)
{
	struct orr_process *proc = orr_self();

	proc->core->ctx[ctx]->policy_data = orr_heteroprio_new(proc);
	orr_ctx_set_prios(proc->core->ctx[ctx], INT_MIN, INT_MAX);
}

static void deinit(unsigned ctx)
{
	orr_heteroprio_free(orr_self()->core->ctx[ctx]->policy_data);
}

static void change(unsigned ctx, const int *ids, unsigned n, int in)
{
	struct orr_process *proc = orr_self();

	for (unsigned i = 0; i < n; i++)
		orr_heteroprio_member(proc, proc->core->ctx[ctx]->policy_data, (unsigned) ids[i],
				      in);
}

static void add_workers(unsigned ctx, int *ids, unsigned n)
{
	change(ctx, ids, n, 1);
}
static void remove_workers(unsigned ctx, int *ids, unsigned n)
{
	change(ctx, ids, n, 0);
}

static int push(struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = proc->core->ctx[orr_task_of(task)->ctx];
	int choosy = orr_task_is_choosy(task);
	int ret = orr_heteroprio_push(proc, ctx->policy_data, task);

	if (!ret)
		orr_ctx_wake(proc, ctx, choosy);
	return ret;
}

static struct starpu_task *pop(unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();

	return orr_heteroprio_pop(self->proc->core->ctx[ctx]->policy_data, self->worker);
}

struct starpu_sched_policy orr_sched_heteroprio = {
	.init_sched = init,
	.deinit_sched = deinit,
	.add_workers = add_workers,
	.remove_workers = remove_workers,
	.push_task = push,
	.pop_task = pop,
	.policy_name = "heteroprio",
	.policy_description = "each kind of unit takes first what it does best",
	.worker_type = STARPU_WORKER_LIST,
};
