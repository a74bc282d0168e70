/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* heteroprio as a component: tasks wait until a worker pulls the one that its kind does best (see
 * heteroprio.c).
 *
 * Invariant: the workers of the buckets are those below, in the context. */
#include "sched/component.h"
#include "sched/heteroprio.h"
#include "base/log.h"
#include "core/core.h"
#include "core/sched_ctx.h"
#include "core/task.h"

static void deinit(struct starpu_sched_component *c)
{
	orr_heteroprio_free(c->data);
}

static int push_task(struct starpu_sched_component *c, struct starpu_task *task)
{
	int choosy = orr_task_is_choosy(task);

	if (!starpu_sched_component_can_execute_task(c, task))
		return 1;
	if (orr_heteroprio_push(orr_self(), c->data, task))
		return 1;
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
		return orr_heteroprio_pop(from->data, w);
	for (int i = starpu_bitmap_first(in); i >= 0 && !task; i = starpu_bitmap_next(in, i))
		if ((unsigned) i < proc->core->nworkers)
			task = orr_heteroprio_pop(from->data, &proc->core->workers[i]);
	return task;
}

/* The child has room: it gets what the workers below it do best. What it refuses all the same goes
 * back to its bucket. */
static int can_push(struct starpu_sched_component *from, struct starpu_sched_component *to)
{
	int success;
	struct starpu_task *task = starpu_sched_component_pump_to(from, to, &success);

	if (task && orr_heteroprio_push(orr_self(), from->data, task))
		orr_fatal("heteroprio refuses task %s, which it had", orr_task_name(task));
	return success;
}

static void change_workers(struct starpu_sched_component *c)
{
	struct orr_process *proc = orr_self();

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		orr_heteroprio_member(proc, c->data, i,
				      starpu_bitmap_get(&c->workers_in_ctx, (int) i));
}

static double estimated_load(struct starpu_sched_component *c)
{
	double speed = orr_component_speed(c) / ORR_ARCH_CPU_FLOPS;

	return starpu_sched_component_estimated_load(c) +
	       (speed > 0 ? orr_heteroprio_ntasks(c->data) / speed : 0);
}

struct starpu_sched_component *starpu_sched_component_heteroprio_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_heteroprio_data *params)
{
	struct starpu_sched_component *c = orr_component_new(
		tree, "heteroprio", orr_heteroprio_new(orr_self()), deinit);

	(void) params;
	c->push_task = push_task;
	c->pull_task = pull_task;
	c->can_push = can_push;
	c->notify_change_workers = change_workers;
	c->estimated_load = estimated_load;
	return c;
}

int starpu_sched_component_is_heteroprio(struct starpu_sched_component *component)
{
	return component->push_task == push_task;
}
