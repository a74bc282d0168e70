/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policies that use performance models (the dm family): each ready task goes to the worker
 * where it is expected to end first.
 *
 *      dm      execution times only
 *      dmda    and transfers, which are asked for at once
 *      dmdap   dmda, most urgent first
 *      dmdar   dmda, tasks first whose data are there
 *      dmdas   dmdap, then those whose data are there
 *      dmdasd  dmdas, and only as urgent tasks count as load
 *      heft    dmdas by its name in the literature
 *      pheft   heft that executes parallel tasks by several workers
 *
 * A worker's expected end is the expected end of what it executes, set anew when a task begins and
 * ends, plus the expected lengths of what has not begun. Workers that are the same to the models
 * and have the same memory form a class, for which estimates are made once.
 *
 * Invariant: queued_ns of a worker is the sum of the loads of its tasks that have not begun, up to
 * pushes under way. */
#include "sched/sched.h"
#include "sched/dm.h"
#include "core/task/expect.h"
#include "data/handle.h"
#include "base/log.h"
#include "data/data.h"
#include "core/worker/core.h"
#include "core/ctx/combined.h"
#include "core/flow/parallel.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_query.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"
#include "core/worker/wake.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t now_ns(void)
{
	return (int64_t) (orr_sys_now_us() * 1e3);
}

/* ---- start and end ---- */

static int same_class(const struct orr_worker *a, const struct orr_worker *b)
{
	return a->perf_arch->type == b->perf_arch->type &&
	       a->perf_arch->devid == b->perf_arch->devid &&
	       a->perf_arch->ncores == b->perf_arch->ncores;
}

/* The class of a worker, made by its first member. */
static struct orr_dm_class *class_of(struct orr_dm *dm, struct orr_worker *w)
{
	unsigned u, alike;

	for (u = 0; u < dm->nclasses; u++)
		if (dm->classes[u].memnode == w->memnode && same_class(dm->classes[u].lead, w))
			return &dm->classes[u];
	for (alike = 0; alike < u && !same_class(dm->classes[alike].lead, w); alike++)
		;
	orr_assert(u < orr_self()->core->nworkers);
	dm->classes[u] = (struct orr_dm_class){ .lead = w, .memnode = w->memnode, .alike = alike };
	dm->nclasses++;
	return &dm->classes[u];
}

/* Sorts the workers into classes; members stand in the order of their numbers. */
static void make_classes(struct orr_process *proc, struct orr_dm *dm)
{
	unsigned next = 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		class_of(dm, &proc->core->workers[i])->n++;
	for (unsigned u = 0; u < dm->nclasses; u++) {
		dm->classes[u].member = &dm->members[next];
		next += dm->classes[u].n;
		dm->classes[u].n = 0;
	}
	orr_assertf(next == proc->core->nworkers, "%u of %u workers are in a class", next,
		    proc->core->nworkers);
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		struct orr_dm_class *cls = class_of(dm, &proc->core->workers[i]);

		cls->member[cls->n++] = i;
	}
}

static void start(unsigned ctx, const struct orr_dm_variant *variant)
{
	struct orr_process *proc = orr_self();
	size_t size = sizeof(struct orr_dm) +
		      (proc->core->nworkers + 1) * sizeof(struct orr_dm_worker);
	struct orr_dm *dm = aligned_alloc(ORR_LINES,
					  (size + ORR_LINES - 1) & ~(size_t) (ORR_LINES - 1));

	if (dm) {
		memset(dm, 0, size);
		dm->classes = calloc(proc->core->nworkers + 1, sizeof(*dm->classes));
		dm->members = calloc(proc->core->nworkers + 1, sizeof(*dm->members));
	}
	if (!dm || !dm->classes || !dm->members)
		orr_fatal("out of memory for the scheduling policy");
	dm->v = variant;
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		orr_lock_init(&dm->w[i].lock, ORR_RANK_DM_WORKER);
		orr_taskq_init(&dm->w[i].q);
		dm->w[i].away = 1;
	}
	dm->naway = proc->core->nworkers;
	make_classes(proc, dm);
	proc->core->ctx[ctx]->policy_data = dm;
	if (variant->parallel)
		orr_combined_build(proc);
	if (variant->sorted)
		orr_ctx_set_prios(proc->core->ctx[ctx], INT_MIN, INT_MAX);
}

static void dm_deinit(unsigned ctx)
{
	struct orr_process *proc = orr_self();
	struct orr_dm *dm = proc->core->ctx[ctx]->policy_data;

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		orr_taskq_exit(&dm->w[i].q);
	free(dm->classes);
	free(dm->members);
	free(dm);
}

/* ---- workers join and leave the context ---- */

static void dm_add_workers(unsigned ctx, int *ids, unsigned n)
{
	struct orr_dm *dm = orr_self()->core->ctx[ctx]->policy_data;

	for (unsigned i = 0; i < n; i++) {
		struct orr_dm_worker *w = &dm->w[ids[i]];

		orr_lock(&w->lock);
		orr_assertf(w->away && !w->q.ntasks, "worker %d joins twice", ids[i]);
		ORR_ATOMIC_STORE_RELAXED(&w->away, 0);
		orr_unlock(&w->lock);
		ORR_ATOMIC_ADD(&dm->naway, (unsigned) -1);
	}
}

/* Tasks that a leaving worker has not begun are decided anew. */
static void evacuate(struct orr_process *proc, struct orr_dm *dm, struct orr_dm_worker *w)
{
	struct starpu_task_list list;
	struct starpu_task *task;

	starpu_task_list_init(&list);
	ORR_ATOMIC_ADD(&dm->naway, 1);
	orr_lock(&w->lock);
	orr_assertf(!w->away, "worker %u leaves twice", (unsigned) (w - dm->w));
	ORR_ATOMIC_STORE_RELAXED(&w->away, 1);
	while (w->q.n)
		starpu_task_list_push_back(
			&list,
			orr_taskq_take(&w->q, w->q.n - 1, w->q.bucket[w->q.n - 1].list.head));
	orr_unlock(&w->lock);
	while ((task = starpu_task_list_pop_front(&list))) {
		ORR_ATOMIC_ADD_RELAXED(&w->queued_ns, -orr_task_of(task)->load);
		ORR_ATOMIC_ADD_RELAXED(&w->ntasks, (unsigned) -1);
		orr_ctx_push(proc, orr_task_of(task));
	}
}

static void dm_remove_workers(unsigned ctx, int *ids, unsigned n)
{
	struct orr_process *proc = orr_self();
	struct orr_dm *dm = proc->core->ctx[ctx]->policy_data;

	for (unsigned i = 0; i < n; i++)
		evacuate(proc, dm, &dm->w[ids[i]]);
}

/* ---- tasks ---- */

/* 0, or -EAGAIN when the worker has just left the context. */
static int enqueue(struct orr_process *proc, struct orr_dm *dm, struct starpu_task *task,
		   const struct orr_dm_choice *c, int64_t now)
{
	struct orr_dm_worker *w = &dm->w[c->worker];
	struct orr_task *t = orr_task_of(task);
	int64_t avail = orr_dm_available(w, now), arrival = now + (int64_t) (c->transfer_us * 1e3),
		load = (int64_t) (c->us * 1e3);

	/* Transfers go on while earlier tasks execute. */
	if (arrival > avail)
		load += arrival - avail;
	orr_assertf(load >= 0, "task %s adds %lld ns to worker %u", orr_task_name(task),
		    (long long) load, c->worker);
	orr_assert(c->worker < proc->core->nworkers && c->impl < STARPU_MAXIMPLEMENTATIONS);
	t->load = load;
	t->nimpl = (uint8_t) c->impl;
	t->impl_chosen = 1;
	task->predicted = c->known ? c->us : NAN;
	task->predicted_transfer = c->transfer_us;
	task->predicted_start = (double) (arrival > avail ? arrival : avail) * 1e-3;
	if (dm->v->data && c->transfer_us > 0 && proc->cfg->prefetch)
		starpu_prefetch_task_input_for(task, c->worker);
	ORR_ATOMIC_ADD_RELAXED(&w->queued_ns, load);
	ORR_ATOMIC_ADD_RELAXED(&w->ntasks, 1);
	orr_lock(&w->lock);
	if (__builtin_expect(w->away, 0)) {
		orr_unlock(&w->lock);
		ORR_ATOMIC_ADD_RELAXED(&w->queued_ns, -load);
		ORR_ATOMIC_ADD_RELAXED(&w->ntasks, (unsigned) -1);
		return -EAGAIN;
	}
	if (orr_taskq_push(&w->q, task, dm->v->sorted ? task->priority : STARPU_DEFAULT_PRIO))
		orr_fatal("out of memory while queueing task %s", orr_task_name(task));
	orr_unlock(&w->lock);
	orr_wake_worker(&proc->core->workers[c->worker]);
	return 0;
}

static int dm_push(struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct orr_dm *dm = proc->core->ctx[orr_task_of(task)->ctx]->policy_data;
	int64_t now = now_ns();
	struct orr_dm_choice c;

	do {
		if (orr_dm_decide(proc, dm, task, now, &c))
			return -ENODEV;
		if (dm->v->parallel && orr_task_is_parallel(task) &&
		    orr_dm_try_parallel(proc, dm, task, now, &c))
			return 0;
	} while (enqueue(proc, dm, task, &c, now));
	return 0;
}

static double dm_simulate_push(struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct orr_dm *dm = proc->core->ctx[orr_task_of(task)->ctx]->policy_data;
	int64_t now = now_ns();
	struct orr_dm_choice c;

	if (orr_dm_decide(proc, dm, task, now, &c))
		return NAN;
	return (double) orr_dm_available(&dm->w[c.worker], now) * 1e-3 + c.us + c.transfer_us;
}

/* Bytes that the task would have to wait for on that memory node. */
static size_t missing_bytes(struct orr_task *t, unsigned memnode)
{
	size_t missing = 0;

	for (unsigned i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];

		if (orr_dm_moves(a) && !(orr_dm_where(a->handle) >> memnode & 1))
			missing += starpu_data_get_size(a->handle);
	}
	return missing;
}

#define READY_WINDOW 32

struct starpu_task *orr_dm_pop_ready(struct orr_taskq *q, struct orr_worker *worker)
{
	struct starpu_task *task, *best = NULL;
	size_t best_missing = 0;
	unsigned k = 0;

	if (!q->n)
		return NULL;
	for (task = q->bucket[q->n - 1].list.head; task && k < READY_WINDOW;
	     task = task->next, k++) {
		size_t missing = missing_bytes(orr_task_of(task), worker->memnode);

		if ((best && missing >= best_missing) || orr_task_first_impl(worker, task) < 0)
			continue;
		best = task;
		best_missing = missing;
		if (!missing)
			break;
	}
	return best ? orr_taskq_take(q, q->n - 1, best) : orr_taskq_pop(q, worker, 0);
}

static struct starpu_task *dm_pop(unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_dm *dm = self->proc->core->ctx[ctx]->policy_data;
	struct orr_worker *worker = self->worker;
	struct orr_dm_worker *w = &dm->w[worker->id];
	struct starpu_task *task;

	if (!ORR_ATOMIC_LOAD_RELAXED(&w->q.ntasks))
		return NULL;
	orr_lock(&w->lock);
	task = dm->v->ready && orr_dm_transfers(self->proc) ? orr_dm_pop_ready(&w->q, worker)
							    : orr_taskq_pop(&w->q, worker, 0);
	orr_unlock(&w->lock);
	return task;
}

/* The program chose the worker. */
static void dm_notify(struct starpu_task *task, int workerid, int perf_workerid, unsigned ctx)
{
	struct orr_process *proc = orr_self();
	struct orr_dm *dm = proc->core->ctx[ctx]->policy_data;
	struct orr_dm_worker *w = &dm->w[workerid];
	struct orr_combined *c = orr_combined_get(proc, (unsigned) perf_workerid);
	int impl = c ? orr_combined_first_impl(c, task)
		     : orr_task_first_impl(&proc->core->workers[workerid], task);
	double us = orr_expect_us(proc, c ? &c->arch : proc->core->workers[workerid].perf_arch,
				  task, impl > 0 ? (unsigned) impl : 0, 0, NULL);

	task->predicted = us;
	orr_task_of(task)->load = us > 0 ? (int64_t) (us * 1e3) : 0;
	ORR_ATOMIC_ADD_RELAXED(&w->queued_ns, orr_task_of(task)->load);
	ORR_ATOMIC_ADD_RELAXED(&w->ntasks, 1);
}

static void begins(struct orr_dm_worker *w, const struct orr_task *t, int64_t end)
{
	ORR_ATOMIC_ADD_RELAXED(&w->queued_ns, -t->load);
	ORR_ATOMIC_STORE_RELAXED(&w->free_ns, end);
}

static void ends(struct orr_dm_worker *w)
{
	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&w->ntasks) > 0,
		    "a worker ends a task that it did not get");
	ORR_ATOMIC_STORE_RELAXED(&w->free_ns, 0);
	ORR_ATOMIC_ADD_RELAXED(&w->ntasks, (unsigned) -1);
}

/* The number of workers that the policy knows to execute the task: all of a combined worker, but
 * only the first one of a parallel worker, whose policy has that one alone. */
static unsigned nmembers(const struct orr_process *proc, const struct orr_task *t, unsigned ctx)
{
	return __builtin_expect(t->parallel != NULL, 0) && !proc->core->ctx[ctx]->of_teams
		       ? t->parallel->comb->n
		       : 1;
}

/* A task begins: its data are there. It may have come to this worker without the policy. */
static void dm_begin(struct starpu_task *task, unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_dm *dm = self->proc->core->ctx[ctx]->policy_data;
	struct orr_task *t = orr_task_of(task);
	int64_t end = now_ns() + (task->predicted > 0 ? (int64_t) (task->predicted * 1e3) : 0);

	begins(&dm->w[self->worker->id], t, end);
	for (unsigned i = 1, n = nmembers(self->proc, t, ctx); i < n; i++)
		begins(&dm->w[t->parallel->comb->workers[i]], t, end);
}

static void dm_end(struct starpu_task *task, unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_dm *dm = self->proc->core->ctx[ctx]->policy_data;
	const struct orr_task *t = orr_task_of(task);

	ends(&dm->w[self->worker->id]);
	for (unsigned i = 1, n = nmembers(self->proc, t, ctx); i < n; i++)
		ends(&dm->w[t->parallel->comb->workers[i]]);
}

/* ---- the family ---- */

#define POLICY(NAME, PREFETCHES, DESCRIPTION, ...) \
	static void NAME##_init(unsigned ctx) \
	{ \
		static const struct orr_dm_variant variant = { __VA_ARGS__ }; \
		start(ctx, &variant); \
	} \
	struct starpu_sched_policy orr_sched_##NAME = { \
		.init_sched = NAME##_init, \
		.deinit_sched = dm_deinit, \
		.add_workers = dm_add_workers, \
		.remove_workers = dm_remove_workers, \
		.push_task = dm_push, \
		.simulate_push_task = dm_simulate_push, \
		.push_task_notify = dm_notify, \
		.pop_task = dm_pop, \
		.pre_exec_hook = dm_begin, \
		.post_exec_hook = dm_end, \
		.prefetches = PREFETCHES, \
		.policy_name = #NAME, \
		.policy_description = DESCRIPTION, \
		.worker_type = STARPU_WORKER_LIST, \
	}

POLICY(dm, 0, "where the task is expected to end first, by its model", .data = 0);
POLICY(dmda, 1, "dm that counts transfers and prefetches", .data = 1);
POLICY(dmdap, 1, "dmda, most urgent first", .data = 1, .sorted = 1);
POLICY(dmdar, 1, "dmda, tasks first whose data are there", .data = 1, .ready = 1);
POLICY(dmdas, 1, "dmda, most urgent first, then those whose data are there", .data = 1, .sorted = 1,
       .ready = 1);
POLICY(dmdasd, 1, "dmdas, a worker's load is what is as urgent as the task", .data = 1, .sorted = 1,
       .ready = 1, .by_prio = 1);
POLICY(heft, 1, "another name of dmdas", .data = 1, .sorted = 1, .ready = 1);
POLICY(pheft, 1, "heft that gives a parallel task to several CPU workers when it ends earlier so",
       .data = 1, .sorted = 1, .ready = 1, .parallel = 1);
