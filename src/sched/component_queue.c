/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queues in modular schedulers: fifo and prio (see component.h).
 *
 * A queue whose tasks are pulled announces them to those below. A queue above a decision that
 * pushes, or above other queues, is pumped: when a task comes, and when something below has room.
 * One thread pumps at a time; whoever comes meanwhile makes it go round once more, so that room
 * that appears while a task is in its hands is not missed.
 *
 * Invariant: queued_ns is the sum of the loads of what is in q. */
#include "sched/component.h"
#include "sched/dm.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/ctx/sched_ctx.h"
#include "data/data.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

#include <math.h>
#include <stdlib.h>

void orr_compq_init(struct orr_compq *q, struct starpu_sched_component *component)
{
	orr_lock_init(&q->lock, ORR_RANK_QUEUE);
	orr_taskq_init(&q->q);
	q->component = component;
	q->exp = 1;
}

void orr_compq_exit(struct orr_compq *q)
{
	orr_taskq_exit(&q->q);
}

/* ---- in and out ---- */

static void put(struct orr_compq *q, struct starpu_task *task, int front)
{
	int prio = q->by_prio ? task->priority : STARPU_DEFAULT_PRIO;

	orr_assert_locked(&q->lock);
	orr_assertf(orr_task_of(task)->load >= 0, "the load of task %s is %lld",
		    orr_task_name(task), (long long) orr_task_of(task)->load);
	if (front ? orr_taskq_push_front(&q->q, task, prio) : orr_taskq_push(&q->q, task, prio))
		orr_fatal("out of memory while queueing task %s", orr_task_name(task));
	ORR_ATOMIC_ADD_RELAXED(&q->queued_ns, orr_task_of(task)->load);
}

/* The caller that evacuates the queue has changed the workers before. */
int orr_compq_put(struct orr_compq *q, struct starpu_task *task)
{
	int able;

	orr_lock(&q->lock);
	able = starpu_sched_component_can_execute_task(q->component, task);
	if (able)
		put(q, task, 0);
	orr_unlock(&q->lock);
	return !able;
}

void orr_compq_put_back(struct orr_compq *q, struct starpu_task *task)
{
	orr_lock(&q->lock);
	put(q, task, 1);
	orr_unlock(&q->lock);
}

struct wanted {
	struct orr_worker *w; /* the one that pulls, or */
	struct starpu_sched_component *to;
};

static int is_wanted(void *arg, struct starpu_task *task)
{
	const struct wanted *want = arg;

	return want->w ? orr_task_first_impl(want->w, task) >= 0
		       : starpu_sched_component_can_execute_task(want->to, task);
}

static int is_lost(void *arg, struct starpu_task *task)
{
	return !starpu_sched_component_can_execute_task(arg, task);
}

struct starpu_task *orr_compq_take(struct orr_compq *q, struct starpu_sched_component *to,
				   int steal)
{
	struct wanted want = { orr_comp_pulling(q->component->tree), to ? to : q->component };
	struct starpu_task *task;

	if (!ORR_ATOMIC_LOAD(&q->q.ntasks))
		return NULL;
	orr_lock(&q->lock);
	task = q->ready && want.w && !steal && orr_self()->data->nmemnodes > 1
		       ? orr_dm_pop_ready(&q->q, want.w)
		       : orr_taskq_pop_if(&q->q, is_wanted, &want, steal);
	if (task)
		ORR_ATOMIC_ADD_RELAXED(&q->queued_ns, -orr_task_of(task)->load);
	orr_assertf(q->q.ntasks || !q->queued_ns, "an empty queue has a load of %lld ns",
		    (long long) q->queued_ns);
	orr_unlock(&q->lock);
	return task;
}

void orr_compq_evacuate(struct orr_compq *q, struct starpu_sched_component *component,
			struct starpu_task_list *list)
{
	struct starpu_task *task;

	orr_lock(&q->lock);
	while ((task = orr_taskq_pop_if(&q->q, is_lost, component, 0))) {
		ORR_ATOMIC_ADD_RELAXED(&q->queued_ns, -orr_task_of(task)->load);
		starpu_task_list_push_back(list, task);
	}
	orr_unlock(&q->lock);
}

/* ---- the component ---- */

static int evacuate(struct starpu_sched_component *c, int message, void *arg)
{
	if (message == ORR_COMPONENT_EVACUATE)
		orr_compq_evacuate(c->data, c, arg);
	return 0;
}

static int is_full(struct orr_compq *q)
{
	unsigned n = ORR_ATOMIC_LOAD(&q->q.ntasks);

	return (q->max_tasks && n >= q->max_tasks) ||
	       (q->max_ns && n && ORR_ATOMIC_LOAD_RELAXED(&q->queued_ns) >= q->max_ns);
}

/* A decision above has told; else the queue asks, if its lengths matter to the one who made it. */
static double length_us(struct orr_compq *q, struct starpu_task *task)
{
	struct orr_comp_estimate e;

	if (!isnan(task->predicted) || !q->lengths)
		return task->predicted > 0 ? task->predicted : 0;
	e = orr_component_estimate(q->component, task);
	return e.known ? e.us : 0;
}

/* The time that the task adds to the queue: transfers go on while earlier tasks execute. */
static int64_t load_of(struct orr_compq *q, struct starpu_task *task)
{
	struct starpu_sched_component *c = q->component;
	double us = length_us(q, task), wait;

	if (!(us > 0) || !(task->predicted_transfer > 0))
		return (int64_t) (us * 1e3);
	wait = c->estimated_end(c) - orr_sys_now_us();
	if (task->predicted_transfer > wait)
		us += task->predicted_transfer - fmax(0, wait);
	return (int64_t) (us * 1e3);
}

int orr_compq_push_task(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct orr_compq *q = c->data;
	int choosy = orr_task_is_choosy(task);

	if (is_full(q) || !starpu_sched_component_can_execute_task(c, task))
		return 1;
	orr_task_of(task)->load = load_of(q, task);
	starpu_sched_component_prefetch_on_node(c, task);
	if (orr_compq_put(q, task))
		return 1;
	if (ORR_ATOMIC_LOAD_RELAXED(&q->pushes))
		orr_compq_pump(q);
	else
		orr_component_announce(c, choosy);
	return 0;
}

/* From a neighbour's queue, its last task. */
static struct starpu_task *steal(struct starpu_sched_component *c,
				 struct starpu_sched_component *to)
{
	struct starpu_task *task = NULL;

	for (unsigned p = 0; p < c->nparents; p++)
		for (unsigned i = 0; i < c->parents[p]->nchildren && !task; i++) {
			struct orr_compq *q = orr_compq_of(c->parents[p]->children[i]);

			if (q && q->steals && q->component != c)
				task = orr_compq_take(q, to, 1);
		}
	return task;
}

/* May one above have something to push? Components of the program are always asked. */
static int may_push(const struct starpu_sched_component *c)
{
	int may = 0;

	for (unsigned i = 0; i < c->nparents && !may; i++) {
		const struct starpu_sched_component *p = c->parents[i];
		const struct orr_compq *q = orr_compq_of(p);

		if (q ? ORR_ATOMIC_LOAD(&q->q.ntasks) != 0
		      : p->can_push != starpu_sched_component_can_push)
			may = 1;
		else
			may = may_push(p);
	}
	return may;
}

/* A worker that takes a task makes room, and says so: a component above may have one in its hands.
 * Who finds none asks only those that have some, as idle workers come here all the time. */
static struct starpu_task *pull_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to)
{
	struct orr_compq *q = from->data;
	struct starpu_task *task = orr_compq_take(q, to, 0);

	if ((task || may_push(from)) && starpu_sched_component_send_can_push_to_parents(from) &&
	    !task)
		task = orr_compq_take(q, to, 0);
	if (!task && q->steals) {
		task = steal(from, to);
		if (task)
			starpu_sched_component_send_can_push_to_parents(from);
	}
	return task;
}

static int pump_once(void *arg)
{
	struct orr_compq *q = arg;
	struct starpu_sched_component *c = q->component;
	int any = 0;

	for (unsigned i = 0; i < c->nchildren; i++) {
		int success;
		struct starpu_task *task = starpu_sched_component_pump_to(c, c->children[i],
									  &success);

		if (task)
			orr_compq_put_back(q, task);
		any |= success;
	}
	return any;
}

int orr_component_in_turn(unsigned *requests, int (*round)(void *arg), void *arg)
{
	unsigned seen;
	int any = 0;

	if (ORR_ATOMIC_ADD(requests, 1) != 1)
		return 0;
	do {
		seen = ORR_ATOMIC_LOAD(requests);
		any |= round(arg);
	} while (!ORR_ATOMIC_CAS(requests, &seen, 0));
	return any;
}

int orr_compq_pump(struct orr_compq *q)
{
	return orr_component_in_turn(&q->pumping, pump_once, q);
}

static int can_push(struct starpu_sched_component *from, struct starpu_sched_component *to)
{
	struct orr_compq *q = from->data;
	int any;

	(void) to;
	any = ORR_ATOMIC_LOAD(&q->q.ntasks) || ORR_ATOMIC_LOAD(&q->pumping) ? orr_compq_pump(q) : 0;
	if (!is_full(q))
		any |= starpu_sched_component_send_can_push_to_parents(from);
	return any;
}

static void do_schedule(struct starpu_sched_component *c)
{
	orr_compq_pump(c->data);
	for (unsigned i = 0; i < c->nchildren; i++)
		c->children[i]->do_schedule(c->children[i]);
}

static void change_workers(struct starpu_sched_component *c)
{
	struct orr_compq *q = c->data;

	ORR_ATOMIC_STORE_RELAXED(&q->pushes, q->always_pushes || orr_component_wants_pushes(c));
}

static double estimated_load(struct starpu_sched_component *c)
{
	const struct orr_compq *q = c->data;
	double speed = orr_component_speed(c) / ORR_ARCH_CPU_FLOPS;

	return starpu_sched_component_estimated_load(c) +
	       (speed > 0 ? ORR_ATOMIC_LOAD_RELAXED(&q->q.ntasks) / speed : 0);
}

static double estimated_end(struct starpu_sched_component *c)
{
	const struct orr_compq *q = c->data;
	int64_t queued = q->exp ? ORR_ATOMIC_LOAD_RELAXED(&q->queued_ns) : 0;

	return starpu_sched_component_estimated_end_min_add(c, queued > 0 ? queued * 1e-3 : 0);
}

static void deinit(struct starpu_sched_component *c)
{
	orr_compq_exit(c->data);
	free(c->data);
}

struct starpu_sched_component *orr_component_queue(struct starpu_sched_tree *tree, const char *name,
						   int by_prio)
{
	struct orr_compq *q = orr_component_alloc(sizeof(*q));
	struct starpu_sched_component *c = orr_component_new(tree, name, q, deinit);

	orr_compq_init(q, c);
	q->by_prio = by_prio;
	c->push_task = orr_compq_push_task;
	c->pull_task = pull_task;
	c->can_push = can_push;
	c->do_schedule = do_schedule;
	c->notify = evacuate;
	c->notify_change_workers = change_workers;
	c->estimated_load = estimated_load;
	c->estimated_end = estimated_end;
	return c;
}

static void limit(struct starpu_sched_component *c, unsigned ntasks, double us, int ready, int exp)
{
	struct orr_compq *q = c->data;

	q->max_tasks = ntasks;
	q->max_ns = us < 1e15 ? (int64_t) (us * 1e3) : 0;
	q->ready = ready;
	q->exp = q->lengths = exp;
}

struct starpu_sched_component *starpu_sched_component_fifo_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_fifo_data *fifo_data)
{
	struct starpu_sched_component *c = orr_component_queue(tree, "fifo", 0);

	if (fifo_data)
		limit(c, fifo_data->ntasks_threshold, fifo_data->exp_len_threshold,
		      fifo_data->ready, fifo_data->exp);
	return c;
}

struct starpu_sched_component *starpu_sched_component_prio_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_prio_data *prio_data)
{
	struct starpu_sched_component *c = orr_component_queue(tree, "prio", 1);

	if (prio_data)
		limit(c, prio_data->ntasks_threshold, prio_data->exp_len_threshold,
		      prio_data->ready, prio_data->exp);
	return c;
}

static int is_queue(const struct starpu_sched_component *c)
{
	return c->deinit_data == deinit;
}

int starpu_sched_component_is_fifo(struct starpu_sched_component *component)
{
	return is_queue(component) && !((struct orr_compq *) component->data)->by_prio;
}

int starpu_sched_component_is_prio(struct starpu_sched_component *component)
{
	return is_queue(component) && ((struct orr_compq *) component->data)->by_prio;
}

struct orr_compq *orr_compq_of(const struct starpu_sched_component *component)
{
	struct orr_comp_worker *w = orr_comp_worker_of(component);

	if (w)
		return &w->q;
	return is_queue(component) || orr_compq_decides(component) ? component->data : NULL;
}

int orr_component_wants_pushes(const struct starpu_sched_component *c)
{
	for (unsigned i = 0; i < c->nchildren; i++) {
		const struct starpu_sched_component *child = c->children[i],
						    *top = orr_composed_top(child);

		if (top)
			child = top;
		if (is_queue(child) || orr_component_is_push_only(child) ||
		    (!orr_comp_worker_of(child) && orr_component_wants_pushes(child)))
			return 1;
	}
	return 0;
}
