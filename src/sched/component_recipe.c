/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Composition of components: recipes, a component that stands for several in a row, and trees in
 * the shape of the machine (see component.h).
 *
 * The neighbours of a composed component know it only; inside, the last component knows the
 * children too, and the first one has the composed component as its parent.
 *
 * Invariant: the inner components have the workers of the composed one. */
#include "sched/component.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/worker/core.h"

#include <stdlib.h>

/* ---- recipes ---- */

struct step {
	struct starpu_sched_component *(*create)(struct starpu_sched_tree *tree, void *arg);
	void *arg;
};

struct starpu_sched_component_composed_recipe {
	struct step *step;
	unsigned n;
};

struct starpu_sched_component_composed_recipe *starpu_sched_component_composed_recipe_create(void)
{
	return orr_component_alloc(sizeof(struct starpu_sched_component_composed_recipe));
}

void starpu_sched_component_composed_recipe_add(
	struct starpu_sched_component_composed_recipe *recipe,
	struct starpu_sched_component *(*create_component)(struct starpu_sched_tree *tree,
							   void *arg),
	void *arg)
{
	recipe->step = realloc(recipe->step, (recipe->n + 1) * sizeof(*recipe->step));
	if (!recipe->step)
		orr_fatal("out of memory for the components of a scheduler");
	recipe->step[recipe->n++] = (struct step){ create_component, arg };
}

struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create_singleton(
	struct starpu_sched_component *(*create_component)(struct starpu_sched_tree *tree,
							   void *arg),
	void *arg)
{
	struct starpu_sched_component_composed_recipe *recipe =
		starpu_sched_component_composed_recipe_create();

	starpu_sched_component_composed_recipe_add(recipe, create_component, arg);
	return recipe;
}

void starpu_sched_component_composed_recipe_destroy(
	struct starpu_sched_component_composed_recipe *recipe)
{
	if (!recipe)
		return;
	free(recipe->step);
	free(recipe);
}

/* ---- composed components ---- */

struct composed {
	struct starpu_sched_component *top, *bottom;
	struct orr_component_children children; /* as it would do without */
	int eager_prio;
};

static int push_task(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct composed *d = c->data;

	return d->top->push_task(d->top, task);
}

static struct starpu_task *pull_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to)
{
	struct composed *d = from->data;

	return to == d->top ? starpu_sched_component_parents_pull_task(from, to)
			    : d->bottom->pull_task(d->bottom, to);
}

static int can_push(struct starpu_sched_component *from, struct starpu_sched_component *to)
{
	struct composed *d = from->data;

	return to == d->top ? starpu_sched_component_send_can_push_to_parents(from)
			    : d->bottom->can_push(d->bottom, to);
}

static int can_pull(struct starpu_sched_component *c)
{
	struct composed *d = c->data;

	return d->top->can_pull(d->top);
}

static void do_schedule(struct starpu_sched_component *c)
{
	struct composed *d = c->data;

	d->top->do_schedule(d->top);
}

static double estimated_load(struct starpu_sched_component *c)
{
	struct composed *d = c->data;

	return d->top->estimated_load(d->top);
}

static double estimated_end(struct starpu_sched_component *c)
{
	struct composed *d = c->data;

	return d->top->estimated_end(d->top);
}

static void add_child(struct starpu_sched_component *c, struct starpu_sched_component *child)
{
	struct composed *d = c->data;

	d->children.add(c, child);
	d->bottom->add_child(d->bottom, child);
}

static void remove_child(struct starpu_sched_component *c, struct starpu_sched_component *child)
{
	struct composed *d = c->data;

	d->children.remove(c, child);
	d->bottom->remove_child(d->bottom, child);
}

/* The inner ones, from the last to the first. */
static void each(struct composed *d, void (*f)(struct starpu_sched_component *, void *), void *arg)
{
	struct starpu_sched_component *c = d->bottom;

	for (; c != d->top; c = c->parents[0])
		f(c, arg);
	f(d->top, arg);
}

static void take_workers(struct starpu_sched_component *inner, void *arg)
{
	const struct starpu_sched_component *c = arg;
	struct starpu_bitmap workers = c->workers, in = c->workers_in_ctx;

	starpu_bitmap_unset_and(&inner->workers, &workers, &workers);
	starpu_bitmap_unset_and(&inner->workers_in_ctx, &in, &in);
	inner->properties = c->properties;
	inner->notify_change_workers(inner);
}

static void change_workers(struct starpu_sched_component *c)
{
	each(c->data, take_workers, c);
}

struct message {
	int id;
	void *arg;
};

static void pass_message(struct starpu_sched_component *inner, void *arg)
{
	const struct message *m = arg;

	inner->notify(inner, m->id, m->arg);
}

static int notify(struct starpu_sched_component *c, int message_ID, void *arg)
{
	struct message m = { message_ID, arg };

	each(c->data, pass_message, &m);
	return 0;
}

static void deinit(struct starpu_sched_component *c)
{
	struct composed *d = c->data;

	d->top->remove_parent(d->top, c); /* whose functions would look inside */
	starpu_sched_component_destroy_rec(d->top);
	free(d);
}

struct starpu_sched_component *orr_composed_top(const struct starpu_sched_component *c)
{
	return c->deinit_data == deinit ? ((struct composed *) c->data)->top : NULL;
}

struct starpu_sched_component *starpu_sched_component_composed_component_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_composed_recipe *recipe)
{
	struct composed *d = orr_component_alloc(sizeof(*d));
	struct starpu_sched_component *c = orr_component_new(tree, "composed", d, NULL);

	for (unsigned i = 0; i < recipe->n || !d->bottom; i++) {
		struct starpu_sched_component *next =
			recipe->n ? recipe->step[i].create(tree, recipe->step[i].arg)
				  : starpu_sched_component_create(tree, "empty");

		if (d->bottom)
			starpu_sched_component_connect(d->bottom, next);
		else
			d->top = next;
		d->bottom = next;
	}
	d->top->add_parent(d->top, c);
	d->children = orr_component_replace_children(
		c, (struct orr_component_children){ add_child, remove_child });
	c->push_task = push_task;
	c->pull_task = pull_task;
	c->can_push = can_push;
	c->can_pull = can_pull;
	c->do_schedule = do_schedule;
	c->notify = notify;
	c->estimated_load = estimated_load;
	c->estimated_end = estimated_end;
	c->notify_change_workers = change_workers;
	c->deinit_data = deinit;
	return c;
}

/* ---- eager_prio: a queue by priority above eager ---- */

static struct starpu_sched_component *create_prio(struct starpu_sched_tree *tree, void *arg)
{
	(void) arg;
	return starpu_sched_component_prio_create(tree, NULL);
}

struct starpu_sched_component *starpu_sched_component_eager_prio_create(
	struct starpu_sched_tree *tree, void *arg)
{
	struct starpu_sched_component_composed_recipe *recipe =
		starpu_sched_component_composed_recipe_create_singleton(create_prio, arg);
	struct starpu_sched_component *c;

	starpu_sched_component_composed_recipe_add(recipe, starpu_sched_component_eager_create,
						   arg);
	c = starpu_sched_component_composed_component_create(tree, recipe);
	((struct composed *) c->data)->eager_prio = 1;
	starpu_sched_component_composed_recipe_destroy(recipe);
	return c;
}

int starpu_sched_component_is_eager_prio(struct starpu_sched_component *component)
{
	return orr_composed_top(component) && ((struct composed *) component->data)->eager_prio;
}

/* ---- the shape of the machine ---- */

/* Puts what the recipe says below the parent, and returns it; the parent without a recipe. */
static struct starpu_sched_component *level(struct starpu_sched_tree *t,
					    struct starpu_sched_component *parent,
					    struct starpu_sched_component_composed_recipe *recipe)
{
	struct starpu_sched_component *c;

	if (!recipe)
		return parent;
	c = starpu_sched_component_composed_component_create(t, recipe);
	starpu_sched_component_connect(parent, c);
	return c;
}

static void add_worker(struct starpu_sched_tree *t, struct starpu_sched_component *parent,
		       const struct starpu_sched_component_specs *s, const struct orr_worker *w)
{
	struct starpu_sched_component_composed_recipe *recipe =
		s->worker_composed_sched_component ? s->worker_composed_sched_component(w->arch)
						   : NULL;

	parent = level(t, parent, recipe);
	starpu_sched_component_composed_recipe_destroy(recipe);
	starpu_sched_component_connect(
		parent, starpu_sched_component_worker_new(t->sched_ctx_id, (int) w->id));
}

/* The place of a worker: with those of its memory node, or of the main memory near it. */
static unsigned group_of(const struct orr_worker *w, int mix)
{
	return mix && w->arch != STARPU_CPU_WORKER ? STARPU_MAIN_RAM : w->memnode;
}

/* The workers of one group, those of one kind first: these share socket and cache as far as the
 * runtime knows. */
static void add_group(struct starpu_sched_tree *t, struct starpu_sched_component *machine,
		      const struct starpu_sched_component_specs *s, unsigned group)
{
	struct orr_core *core = orr_self()->core;
	struct starpu_sched_component *node = NULL, *cores = NULL;

	for (unsigned i = 0; i < core->nworkers; i++) {
		const struct orr_worker *w = &core->workers[i];

		if (group_of(w, s->mix_heterogeneous_workers) != group)
			continue;
		if (!node)
			node = level(t, machine, s->hwloc_component_composed_sched_component);
		if (w->arch == STARPU_CPU_WORKER && !cores)
			cores = level(t, level(t, node, s->hwloc_socket_composed_sched_component),
				      s->hwloc_cache_composed_sched_component);
		add_worker(t, w->arch == STARPU_CPU_WORKER ? cores : node, s, w);
	}
}

struct starpu_sched_tree *starpu_sched_component_make_scheduler(
	unsigned sched_ctx_id, struct starpu_sched_component_specs s)
{
	struct starpu_sched_tree *t = starpu_sched_tree_create(sched_ctx_id);

	if (!t)
		return NULL;
	t->root = s.hwloc_machine_composed_sched_component
			  ? starpu_sched_component_composed_component_create(
				    t, s.hwloc_machine_composed_sched_component)
			  : starpu_sched_component_eager_create(t, NULL);
	for (unsigned group = 0; group < STARPU_MAXNODES; group++)
		add_group(t, t->root, &s, group);
	starpu_sched_tree_update_workers(t);
	return t;
}
