/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Components: their making, their neighbours, and what they do by default (see component.h).
 *
 * Invariant: a child has a component as a parent as often as that one has it as a child. */
#include "sched/component.h"
#include "base/assert.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* ---- neighbours ---- */

static void add(struct starpu_sched_component ***list, unsigned *n,
		struct starpu_sched_component *c)
{
	*list = realloc(*list, (*n + 1) * sizeof(**list));
	if (!*list)
		orr_fatal("out of memory for the components of a scheduler");
	(*list)[(*n)++] = c;
}

static void drop(struct starpu_sched_component **list, unsigned *n,
		 const struct starpu_sched_component *c)
{
	unsigned i = 0;

	while (i < *n && list[i] != c)
		i++;
	if (i == *n)
		return;
	memmove(&list[i], &list[i + 1], (*n - i - 1) * sizeof(*list));
	--*n;
}

static void add_child(struct starpu_sched_component *component,
		      struct starpu_sched_component *child)
{
	add(&component->children, &component->nchildren, child);
}
static void remove_child(struct starpu_sched_component *component,
			 struct starpu_sched_component *child)
{
	drop(component->children, &component->nchildren, child);
}
static void add_parent(struct starpu_sched_component *component,
		       struct starpu_sched_component *parent)
{
	add(&component->parents, &component->nparents, parent);
}
static void remove_parent(struct starpu_sched_component *component,
			  struct starpu_sched_component *parent)
{
	drop(component->parents, &component->nparents, parent);
}

struct orr_component_children orr_component_replace_children(struct starpu_sched_component *c,
							     struct orr_component_children now)
{
	struct orr_component_children before = { c->add_child, c->remove_child };

	c->add_child = now.add;
	c->remove_child = now.remove;
	return before;
}

void starpu_sched_component_add_child(struct starpu_sched_component *component,
				      struct starpu_sched_component *child)
{
	component->add_child(component, child);
}

void starpu_sched_component_connect(struct starpu_sched_component *parent,
				    struct starpu_sched_component *child)
{
	parent->add_child(parent, child);
	child->add_parent(child, parent);
}

/* ---- what they do by default ---- */

static int push_task(struct starpu_sched_component *component, struct starpu_task *task)
{
	for (unsigned i = 0; i < component->nchildren; i++) {
		struct starpu_sched_component *child = component->children[i];

		if (starpu_sched_component_can_execute_task(child, task) &&
		    !child->push_task(child, task))
			return 0;
	}
	return 1;
}

struct starpu_task *orr_component_pull_nothing(struct starpu_sched_component *from,
					       struct starpu_sched_component *to)
{
	(void) from;
	(void) to;
	return NULL;
}

int orr_component_is_push_only(const struct starpu_sched_component *c)
{
	return c->pull_task == orr_component_pull_nothing ||
	       (c->push_task != push_task &&
		c->pull_task == starpu_sched_component_parents_pull_task);
}

static void do_schedule(struct starpu_sched_component *component)
{
	for (unsigned i = 0; i < component->nchildren; i++)
		component->children[i]->do_schedule(component->children[i]);
}

static int notify(struct starpu_sched_component *component, int message_ID, void *arg)
{
	(void) component;
	(void) message_ID;
	(void) arg;
	return 0;
}

static void nothing(struct starpu_sched_component *component)
{
	(void) component;
}

void *orr_component_alloc(size_t size)
{
	void *p = aligned_alloc(ORR_LINES, (size + ORR_LINES - 1) & ~(size_t) (ORR_LINES - 1));

	if (!p)
		orr_fatal("out of memory for the components of a scheduler");
	return memset(p, 0, size);
}

struct starpu_sched_component *starpu_sched_component_create(struct starpu_sched_tree *tree,
							     const char *name)
{
	struct starpu_sched_component *c = orr_component_alloc(sizeof(*c));

	*c = (struct starpu_sched_component){
		.tree = tree,
		.name = strdup(name ? name : "unnamed"),
		.add_child = add_child,
		.remove_child = remove_child,
		.add_parent = add_parent,
		.remove_parent = remove_parent,
		.push_task = push_task,
		.pull_task = starpu_sched_component_parents_pull_task,
		.can_push = starpu_sched_component_can_push,
		.can_pull = starpu_sched_component_can_pull,
		.do_schedule = do_schedule,
		.notify = notify,
		.estimated_load = starpu_sched_component_estimated_load,
		.estimated_end = starpu_sched_component_estimated_end_min,
		.deinit_data = nothing,
		.notify_change_workers = nothing,
	};
	if (!c->name)
		orr_fatal("out of memory for the components of a scheduler");
	return c;
}

struct starpu_sched_component *orr_component_new(struct starpu_sched_tree *tree, const char *name,
						 void *data,
						 void (*deinit)(struct starpu_sched_component *))
{
	struct starpu_sched_component *c = starpu_sched_component_create(tree, name);

	c->data = data;
	if (deinit)
		c->deinit_data = deinit;
	return c;
}

void starpu_sched_component_destroy(struct starpu_sched_component *component)
{
	while (component->nchildren) {
		struct starpu_sched_component *child =
			component->children[component->nchildren - 1];

		child->remove_parent(child, component);
		component->remove_child(component, child);
	}
	while (component->nparents) {
		struct starpu_sched_component *parent = component->parents[component->nparents - 1];

		parent->remove_child(parent, component);
		component->remove_parent(component, parent);
	}
	component->deinit_data(component);
	free(component->children);
	free(component->parents);
	free(component->name);
	free(component);
}

void starpu_sched_component_destroy_rec(struct starpu_sched_component *component)
{
	while (component->nchildren) {
		struct starpu_sched_component *child =
			component->children[component->nchildren - 1];

		child->remove_parent(child, component);
		component->remove_child(component, child);
		if (!child->nparents)
			starpu_sched_component_destroy_rec(child);
	}
	starpu_sched_component_destroy(component);
}

/* ---- moving tasks ---- */

int starpu_sched_component_push_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to, struct starpu_task *task)
{
	(void) from;
	return to->push_task(to, task);
}

struct starpu_task *starpu_sched_component_pull_task(struct starpu_sched_component *from,
						     struct starpu_sched_component *to)
{
	return from->pull_task(from, to);
}

struct starpu_task *starpu_sched_component_parents_pull_task(
	struct starpu_sched_component *component, struct starpu_sched_component *to)
{
	struct starpu_task *task = NULL;

	(void) to;
	for (unsigned i = 0; i < component->nparents && !task; i++)
		task = component->parents[i]->pull_task(component->parents[i], component);
	return task;
}

/* A task that is pumped may be for another worker than the one that pumps. */
struct starpu_task *starpu_sched_component_pump_to(struct starpu_sched_component *component,
						   struct starpu_sched_component *to, int *success)
{
	int pulling = orr_comp_set_pulling(component->tree, 0);
	struct starpu_task *task;

	*success = 0;
	while ((task = component->pull_task(component, to)) && !to->push_task(to, task))
		*success = 1;
	orr_comp_set_pulling(component->tree, pulling);
	return task;
}

struct starpu_task *starpu_sched_component_pump_downstream(struct starpu_sched_component *component,
							   int *success)
{
	if (component->nchildren == 1)
		return starpu_sched_component_pump_to(component, component->children[0], success);
	orr_error(
		"starpu_sched_component_pump_downstream: component %s has %u children; call starpu_sched_component_pump_to for one of them",
		component->name, component->nchildren);
	*success = 0;
	return NULL;
}

/* ---- telling the neighbours ---- */

int starpu_sched_component_send_can_push_to_parents(struct starpu_sched_component *component)
{
	int pushed = 0;

	for (unsigned i = 0; i < component->nparents && !pushed; i++)
		pushed = component->parents[i]->can_push(component->parents[i], component);
	return pushed;
}

int starpu_sched_component_can_push(struct starpu_sched_component *component,
				    struct starpu_sched_component *to)
{
	(void) to;
	return starpu_sched_component_send_can_push_to_parents(component);
}

int orr_component_mixed(void)
{
	uint32_t mask = orr_self()->arch_mask;

	return (mask & (mask - 1)) != 0;
}

int starpu_sched_component_can_pull_all(struct starpu_sched_component *component)
{
	int woken = 0;

	for (unsigned i = 0; i < component->nchildren; i++)
		woken |= component->children[i]->can_pull(component->children[i]);
	return woken;
}

int starpu_sched_component_can_pull(struct starpu_sched_component *component)
{
	int woken = 0;

	if (orr_component_mixed())
		return starpu_sched_component_can_pull_all(component);
	for (unsigned i = 0; i < component->nchildren && !woken; i++)
		woken = component->children[i]->can_pull(component->children[i]);
	return woken;
}

void orr_component_announce(struct starpu_sched_component *c, int choosy)
{
	struct orr_process *proc = orr_self();

	if (!choosy) {
		starpu_sched_component_can_pull(c);
		return;
	}
	starpu_sched_component_can_pull_all(c);
	for (int w = starpu_bitmap_first(&c->workers_in_ctx);
	     w >= 0 && (unsigned) w < proc->core->nworkers;
	     w = starpu_bitmap_next(&c->workers_in_ctx, w))
		starpu_wake_worker_relax_light(w);
}
