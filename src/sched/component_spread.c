/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decisions of modular schedulers that look at no times: eager, random, stage, userchoice,
 * perfmodel_select, eager_calibration (see component.h).
 *
 * Invariant: a task goes to a child with a worker that can execute it, or is refused. */
#include "sched/component.h"
#include "base/log.h"
#include "core/task/task.h"

#include <math.h>
#include <stdlib.h>

static void free_data(struct starpu_sched_component *c)
{
	free(c->data);
}

static int try(struct starpu_sched_component *child, struct starpu_task *task)
{
	return starpu_sched_component_can_execute_task(child, task) &&
	       !child->push_task(child, task);
}

/* ---- eager ---- */

struct eager {
	unsigned turn; /* atomic: where the next search begins */
};

/* The first of those that are idle, or of all. */
static int give(struct starpu_sched_component *c, struct starpu_task *task, int idle)
{
	struct eager *d = c->data;
	unsigned turn = ORR_ATOMIC_LOAD_RELAXED(&d->turn);

	for (unsigned i = 0; i < c->nchildren; i++) {
		unsigned k = (turn + i) % c->nchildren;

		if ((idle && orr_component_ntasks(c->children[k])) || !try(c->children[k], task))
			continue;
		ORR_ATOMIC_STORE_RELAXED(&d->turn, k + 1);
		return 1;
	}
	return 0;
}

static int eager_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	return !give(c, task, 1) && !give(c, task, 0);
}

/* Unlike other decisions it lets workers pull through. */
static struct starpu_task *eager_pull(struct starpu_sched_component *from,
				      struct starpu_sched_component *to)
{
	return starpu_sched_component_parents_pull_task(from, to);
}

struct starpu_sched_component *starpu_sched_component_eager_create(struct starpu_sched_tree *tree,
								   void *arg)
{
	struct starpu_sched_component *c = orr_component_new(
		tree, "eager", orr_component_alloc(sizeof(struct eager)), free_data);

	(void) arg;
	c->push_task = eager_push;
	c->pull_task = eager_pull;
	return c;
}

int starpu_sched_component_is_eager(struct starpu_sched_component *component)
{
	return component->push_task == eager_push;
}

/* ---- random ---- */

static int random_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	double speed[c->nchildren + 1], sum = 0, x;
	struct starpu_sched_component *drawn = NULL;

	for (unsigned i = 0; i < c->nchildren; i++) {
		speed[i] = starpu_sched_component_can_execute_task(c->children[i], task)
				   ? orr_component_speed(c->children[i])
				   : 0;
		sum += speed[i];
	}
	x = orr_sched_random_below(orr_self(), sum);
	for (unsigned i = 0; i < c->nchildren && (!drawn || x >= 0); i++) {
		if (!(speed[i] > 0))
			continue;
		drawn = c->children[i];
		x -= speed[i];
	}
	return drawn ? drawn->push_task(drawn, task) : 1;
}

struct starpu_sched_component *starpu_sched_component_random_create(struct starpu_sched_tree *tree,
								    void *arg)
{
	struct starpu_sched_component *c = starpu_sched_component_create(tree, "random");

	(void) arg;
	c->push_task = random_push;
	c->pull_task = orr_component_pull_nothing;
	return c;
}

int starpu_sched_component_is_random(struct starpu_sched_component *component)
{
	return component->push_task == random_push;
}

/* ---- stage, userchoice ---- */

static int stage_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	for (unsigned i = 0; i < c->nchildren; i++)
		if (try(c->children[i], task))
			return 0;
	return 1;
}

struct starpu_sched_component *starpu_sched_component_stage_create(struct starpu_sched_tree *tree,
								   void *arg)
{
	struct starpu_sched_component *c = starpu_sched_component_create(tree, "stage");

	(void) arg;
	c->push_task = stage_push;
	c->pull_task = orr_component_pull_nothing;
	return c;
}

int starpu_sched_component_is_stage(struct starpu_sched_component *component)
{
	return component->push_task == stage_push;
}

static int choice_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	uintptr_t k = (uintptr_t) task->sched_data;

	if (k < c->nchildren && starpu_sched_component_can_execute_task(c->children[k], task))
		return c->children[k]->push_task(c->children[k], task);
	orr_error(
		"scheduling component userchoice: task %s names child %lu in sched_data, which %s; the first child that can takes the task",
		orr_task_name(task), (unsigned long) k,
		k < c->nchildren ? "has no worker for it" : "is not there");
	return stage_push(c, task);
}

struct starpu_sched_component *starpu_sched_component_userchoice_create(
	struct starpu_sched_tree *tree, void *arg)
{
	struct starpu_sched_component *c = starpu_sched_component_create(tree, "userchoice");

	(void) arg;
	c->push_task = choice_push;
	c->pull_task = orr_component_pull_nothing;
	return c;
}

int starpu_sched_component_is_userchoice(struct starpu_sched_component *component)
{
	return component->push_task == choice_push;
}

/* ---- what models know ---- */

/* Does the model lack an answer for a child that could execute the task? */
static int is_unknown(struct starpu_sched_component *child, struct starpu_task *task)
{
	double us;

	return starpu_sched_component_execute_preds(child, task, &us) && isnan(us);
}

/* Workers of different kinds below one component are asked one by one. */
static int has_unknown(struct starpu_sched_component *c, struct starpu_task *task)
{
	int unknown = 0;

	for (unsigned i = 0; i < c->nchildren && !unknown; i++)
		unknown = has_unknown(c->children[i], task);
	return unknown || (!c->nchildren && is_unknown(c, task));
}

static int select_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct starpu_sched_component_perfmodel_select_data *d = c->data;
	struct starpu_sched_component *to = !task->cl->model ? d->no_perfmodel_component
					    : has_unknown(d->perfmodel_component, task)
						    ? d->calibrator_component
						    : d->perfmodel_component;

	return to->push_task(to, task);
}

struct starpu_sched_component *starpu_sched_component_perfmodel_select_create(
	struct starpu_sched_tree *tree,
	struct starpu_sched_component_perfmodel_select_data *perfmodel_select_data)
{
	struct starpu_sched_component_perfmodel_select_data *d = orr_component_alloc(sizeof(*d));
	struct starpu_sched_component *c = orr_component_new(tree, "perfmodel_select", d,
							     free_data);

	*d = *perfmodel_select_data;
	c->push_task = select_push;
	c->pull_task = orr_component_pull_nothing;
	starpu_sched_component_connect(c, d->calibrator_component);
	starpu_sched_component_connect(c, d->no_perfmodel_component);
	starpu_sched_component_connect(c, d->perfmodel_component);
	return c;
}

int starpu_sched_component_is_perfmodel_select(struct starpu_sched_component *component)
{
	return component->push_task == select_push;
}

/* Each kind of worker gets its samples: that with fewest tasks is the next. */
static int calibration_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct starpu_sched_component *best = NULL;
	unsigned least = 0;

	for (unsigned i = 0; i < c->nchildren; i++) {
		struct starpu_sched_component *child = c->children[i];
		unsigned n = orr_component_ntasks(child);

		if ((best && n >= least) || !is_unknown(child, task))
			continue;
		best = child;
		least = n;
	}
	if (best && !best->push_task(best, task))
		return 0;
	return eager_push(c, task);
}

struct starpu_sched_component *starpu_sched_component_eager_calibration_create(
	struct starpu_sched_tree *tree, void *arg)
{
	struct starpu_sched_component *c = starpu_sched_component_eager_create(tree, arg);

	c->push_task = calibration_push;
	c->pull_task = orr_component_pull_nothing;
	return c;
}

int starpu_sched_component_is_eager_calibration(struct starpu_sched_component *component)
{
	return component->push_task == calibration_push;
}
