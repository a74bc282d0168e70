/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* heteroprio as a component: tasks wait until a worker pulls the one that its kind does best (see
 * heteroprio.c).
 *
 * Above components that get tasks only by being pushed, it pushes as many as they take.
 *
 * Invariant: the workers of the buckets are those below, in the context. */
#include "sched/component.h"
#include "sched/heteroprio.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task.h"

#include <stdlib.h>

struct data {
	struct orr_heteroprio *buckets;
	unsigned pumping; /* atomic: calls that want a round of the pump */
	int pushes;       /* atomic: those below cannot pull */
};

static struct orr_heteroprio *buckets(const struct starpu_sched_component *c)
{
	return ((struct data *) c->data)->buckets;
}

static void deinit(struct starpu_sched_component *c)
{
	orr_heteroprio_free(buckets(c));
	free(c->data);
}

/* Each child gets what the workers below it do best. A task that it refuses goes back to its
 * bucket. */
static int pump(void *arg)
{
	struct starpu_sched_component *c = arg;
	int any = 0;

	for (unsigned i = 0; i < c->nchildren; i++) {
		int success;
		struct starpu_task *task = starpu_sched_component_pump_to(c, c->children[i],
									  &success);

		if (task && orr_heteroprio_push(orr_self(), buckets(c), task))
			orr_fatal("heteroprio refuses task %s, which it had", orr_task_name(task));
		any |= success;
	}
	return any;
}

static int pump_in_turn(struct starpu_sched_component *c)
{
	return orr_component_in_turn(&((struct data *) c->data)->pumping, pump, c);
}

static int push_task(struct starpu_sched_component *c, struct starpu_task *task)
{
	int choosy = orr_task_is_choosy(task);

	if (!starpu_sched_component_can_execute_task(c, task))
		return 1;
	if (orr_heteroprio_push(orr_self(), buckets(c), task))
		return 1;
	if (ORR_ATOMIC_LOAD_RELAXED(&((struct data *) c->data)->pushes))
		pump_in_turn(c);
	else
		orr_component_announce(c, choosy);
	return 0;
}

/* A caller that pumps gets a task for the first worker below that has one to get. */
static struct starpu_task *pull_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to)
{
	struct orr_process *proc = orr_self();
	struct orr_worker *w = orr_comp_pulling(from->tree);
	struct starpu_bitmap *in = to ? &to->workers_in_ctx : &from->workers_in_ctx;
	struct starpu_task *task = NULL;

	if (w)
		return orr_heteroprio_pop(buckets(from), w);
	for (int i = starpu_bitmap_first(in); i >= 0 && !task; i = starpu_bitmap_next(in, i))
		if ((unsigned) i < proc->core->nworkers)
			task = orr_heteroprio_pop(buckets(from), &proc->core->workers[i]);
	return task;
}

static int can_push(struct starpu_sched_component *from, struct starpu_sched_component *to)
{
	(void) to;
	return pump_in_turn(from);
}

static void do_schedule(struct starpu_sched_component *c)
{
	pump_in_turn(c);
	for (unsigned i = 0; i < c->nchildren; i++)
		c->children[i]->do_schedule(c->children[i]);
}

static void change_workers(struct starpu_sched_component *c)
{
	struct orr_process *proc = orr_self();

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		orr_heteroprio_member(proc, buckets(c), i,
				      starpu_bitmap_get(&c->workers_in_ctx, (int) i));
	ORR_ATOMIC_STORE_RELAXED(&((struct data *) c->data)->pushes, orr_component_wants_pushes(c));
}

static double estimated_load(struct starpu_sched_component *c)
{
	double speed = orr_component_speed(c) / ORR_ARCH_CPU_FLOPS;

	return starpu_sched_component_estimated_load(c) +
	       (speed > 0 ? orr_heteroprio_ntasks(buckets(c)) / speed : 0);
}

struct starpu_sched_component *starpu_sched_component_heteroprio_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_heteroprio_data *params)
{
	struct data *d = orr_component_alloc(sizeof(*d));
	struct starpu_sched_component *c = orr_component_new(tree, "heteroprio", d, deinit);

	(void) params;
	d->buckets = orr_heteroprio_new(orr_self());
	c->push_task = push_task;
	c->pull_task = pull_task;
	c->can_push = can_push;
	c->do_schedule = do_schedule;
	c->notify_change_workers = change_workers;
	c->estimated_load = estimated_load;
	return c;
}

int starpu_sched_component_is_heteroprio(struct starpu_sched_component *component)
{
	return component->push_task == push_task;
}
