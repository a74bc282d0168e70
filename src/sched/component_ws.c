/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work stealing in modular schedulers: a queue for each child (see component.h).
 *
 * Invariant: a task stands in the queue of one child, which may be any that can execute it; others
 * take it from the end. */
#include "sched/component.h"
#include "base/log.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task.h"

#include <stdlib.h>

struct stealing {
	struct orr_compq **q; /* by child */
	unsigned n;
	unsigned turn; /* atomic: where the next task goes that no worker made ready */
	struct orr_component_children children; /* as it would do without */
};

static void add_child(struct starpu_sched_component *c, struct starpu_sched_component *child)
{
	struct stealing *d = c->data;

	d->children.add(c, child);
	d->q = realloc(d->q, (d->n + 1) * sizeof(*d->q));
	if (!d->q)
		orr_fatal("out of memory for the components of a scheduler");
	d->q[d->n] = orr_component_alloc(sizeof(**d->q));
	orr_compq_init(d->q[d->n++], c);
}

static void remove_child(struct starpu_sched_component *c, struct starpu_sched_component *child)
{
	struct stealing *d = c->data;

	d->children.remove(c, child);
	if (!d->n)
		return;
	/* Only when the tree ends: the queues are empty, and which one goes is all the same. */
	orr_compq_exit(d->q[--d->n]);
	free(d->q[d->n]);
}

/* The child of the calling worker, if it can execute the task; else the next one, in turn;
 * nchildren when there is none. */
static unsigned choose(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct stealing *d = c->data;
	struct orr_worker *w = orr_thread_self()->worker;
	unsigned turn;

	for (unsigned i = 0; i < c->nchildren && w; i++)
		if (starpu_bitmap_get(&c->children[i]->workers_in_ctx, (int) w->id) &&
		    starpu_sched_component_can_execute_task(c->children[i], task))
			return i;
	turn = ORR_ATOMIC_ADD_RELAXED(&d->turn, 1);
	for (unsigned i = 0; i < c->nchildren; i++)
		if (starpu_sched_component_can_execute_task(c->children[(turn + i) % c->nchildren],
							    task))
			return (turn + i) % c->nchildren;
	return c->nchildren;
}

static int push_task(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct stealing *d = c->data;
	unsigned k = choose(c, task);
	int choosy = orr_task_is_choosy(task);

	if (k == c->nchildren)
		return 1;
	orr_task_of(task)->load = task->predicted > 0 ? (int64_t) (task->predicted * 1e3) : 0;
	if (orr_compq_put(d->q[k], task))
		return 1;
	if (choosy || !c->children[k]->can_pull(c->children[k]))
		orr_component_announce(c, choosy);
	return 0;
}

static unsigned index_of(const struct starpu_sched_component *c,
			 const struct starpu_sched_component *child)
{
	unsigned k = 0;

	while (k < c->nchildren && c->children[k] != child)
		k++;
	return k < c->nchildren ? k : 0;
}

static struct starpu_task *pull_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to)
{
	struct stealing *d = from->data;
	struct starpu_task *task = NULL;
	unsigned k = index_of(from, to);

	for (unsigned i = 0; i < d->n && !task; i++)
		task = orr_compq_take(d->q[(k + i) % d->n], to, i > 0);
	return task ? task : starpu_sched_component_parents_pull_task(from, to);
}

/* The child has a queue of its own: it gets what pulling would give it. */
static int can_push(struct starpu_sched_component *from, struct starpu_sched_component *to)
{
	struct stealing *d = from->data;
	int success;
	struct starpu_task *task = starpu_sched_component_pump_to(from, to, &success);

	if (task)
		orr_compq_put_back(d->q[index_of(from, to)], task);
	return success || starpu_sched_component_send_can_push_to_parents(from);
}

static int evacuate(struct starpu_sched_component *c, int message, void *arg)
{
	struct stealing *d = c->data;

	for (unsigned i = 0; i < d->n && message == ORR_COMPONENT_EVACUATE; i++)
		orr_compq_evacuate(d->q[i], c, arg);
	return 0;
}

unsigned orr_ws_ntasks(const struct starpu_sched_component *c)
{
	const struct stealing *d = c->data;
	unsigned n = 0;

	for (unsigned i = 0; c->push_task == push_task && i < d->n; i++)
		n += ORR_ATOMIC_LOAD_RELAXED(&d->q[i]->q.ntasks);
	return n;
}

static double estimated_load(struct starpu_sched_component *c)
{
	double speed = orr_component_speed(c) / ORR_ARCH_CPU_FLOPS;

	return starpu_sched_component_estimated_load(c) +
	       (speed > 0 ? orr_ws_ntasks(c) / speed : 0);
}

static double estimated_end(struct starpu_sched_component *c)
{
	const struct stealing *d = c->data;
	int64_t sum = 0;

	for (unsigned i = 0; i < d->n; i++)
		sum += ORR_ATOMIC_LOAD_RELAXED(&d->q[i]->queued_ns);
	return starpu_sched_component_estimated_end_min_add(c, sum > 0 ? sum * 1e-3 : 0);
}

static void deinit(struct starpu_sched_component *c)
{
	struct stealing *d = c->data;

	free(d->q);
	free(d);
}

struct starpu_sched_component *starpu_sched_component_work_stealing_create(
	struct starpu_sched_tree *tree, void *arg)
{
	struct stealing *d = orr_component_alloc(sizeof(*d));
	struct starpu_sched_component *c = orr_component_new(tree, "work_stealing", d, deinit);

	(void) arg;
	d->children = orr_component_replace_children(
		c, (struct orr_component_children){ add_child, remove_child });
	c->push_task = push_task;
	c->pull_task = pull_task;
	c->can_push = can_push;
	c->notify = evacuate;
	c->estimated_load = estimated_load;
	c->estimated_end = estimated_end;
	return c;
}

int starpu_sched_component_is_work_stealing(struct starpu_sched_component *component)
{
	return component->push_task == push_task;
}
