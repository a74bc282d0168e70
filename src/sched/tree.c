/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees of components: the policy that a context sees (see component.h).
 *
 * What the root refuses is kept by a queue above it, so that no policy loses tasks.
 *
 * Invariant: tasks come to the root in the order in which they became ready, as long as one thread
 * makes them ready. */
#include "sched/component.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- life ---- */

/* The context may not be open yet: its policy starts. */
static struct orr_ctx *context(unsigned id)
{
	return id < STARPU_NMAX_SCHED_CTXS ? orr_self()->core->ctx[id] : NULL;
}

struct starpu_sched_tree *starpu_sched_tree_get(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = context(sched_ctx_id);

	return ctx ? ctx->tree : NULL;
}

struct starpu_sched_tree *starpu_sched_tree_create(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = context(sched_ctx_id);
	struct starpu_sched_tree *t;

	if (!ctx || ctx->tree) {
		orr_error(ctx ? "starpu_sched_tree_create: context %u has a tree already"
			      : "starpu_sched_tree_create: there is no scheduling context %u",
			  sched_ctx_id);
		return NULL;
	}
	t = orr_component_alloc(sizeof(*t));
	t->sched_ctx_id = sched_ctx_id;
	STARPU_PTHREAD_MUTEX_INIT(&t->lock, NULL);
	ctx->tree = t;
	return t;
}

void starpu_sched_tree_destroy(struct starpu_sched_tree *tree)
{
	struct orr_ctx *ctx;

	if (!tree)
		return;
	ctx = context(tree->sched_ctx_id);
	if (tree->overflow)
		starpu_sched_component_destroy(tree->overflow);
	if (tree->root)
		starpu_sched_component_destroy_rec(tree->root);
	for (unsigned i = 0; i < STARPU_NMAXWORKERS; i++)
		if (tree->worker[i])
			starpu_sched_component_destroy(tree->worker[i]);
	if (ctx && ctx->tree == tree)
		ctx->tree = NULL;
	STARPU_PTHREAD_MUTEX_DESTROY(&tree->lock);
	free(tree);
}

void starpu_sched_tree_deinitialize(unsigned sched_ctx_id)
{
	starpu_sched_tree_destroy(starpu_sched_tree_get(sched_ctx_id));
}

/* ---- which workers are below ---- */

static int same_models(const struct orr_worker *a, const struct orr_worker *b)
{
	return a->perf_arch->type == b->perf_arch->type &&
	       a->perf_arch->devid == b->perf_arch->devid;
}

/* The worker, or the first of a combined one. */
static const struct orr_worker *lead(struct orr_process *proc, int id)
{
	const struct orr_combined *c = orr_combined_get(proc, (unsigned) id);

	return &proc->core->workers[c ? c->workers[0] : id];
}

static int properties(struct orr_process *proc, struct starpu_bitmap *workers)
{
	int first = starpu_bitmap_first(workers),
	    common = STARPU_SCHED_COMPONENT_HOMOGENEOUS | STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE;

	for (int w = first; w >= 0; w = starpu_bitmap_next(workers, w)) {
		if (!same_models(lead(proc, first), lead(proc, w)))
			common &= ~STARPU_SCHED_COMPONENT_HOMOGENEOUS;
		if (lead(proc, first)->memnode != lead(proc, w)->memnode)
			common &= ~STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE;
	}
	return common;
}

/* A combined worker is in the context when all its members are. */
static int is_in(struct orr_process *proc, struct starpu_sched_tree *t, int id)
{
	const struct orr_combined *c = orr_combined_get(proc, (unsigned) id);
	int in = !c && starpu_bitmap_get(&t->workers, id);

	if (!c)
		return in;
	for (unsigned i = 0; i < c->n; i++)
		if (!starpu_bitmap_get(&t->workers, c->workers[i]))
			return 0;
	return 1;
}

/* Bitmaps are replaced word by word: others may be reading them. */
static void replace(struct starpu_bitmap *b, struct starpu_bitmap *by)
{
	starpu_bitmap_unset_and(b, by, by);
}

static void update(struct starpu_sched_tree *t, struct starpu_sched_component *c)
{
	struct orr_process *proc = orr_self();
	struct starpu_bitmap workers, in;
	int common;

	starpu_bitmap_init(&workers);
	starpu_bitmap_init(&in);
	for (unsigned i = 0; i < c->nchildren; i++) {
		update(t, c->children[i]);
		starpu_bitmap_or(&workers, &c->children[i]->workers);
	}
	if (!c->nchildren)
		replace(&workers, &c->workers);
	for (int w = starpu_bitmap_first(&workers); w >= 0; w = starpu_bitmap_next(&workers, w))
		if (is_in(proc, t, w))
			starpu_bitmap_set(&in, w);
	replace(&c->workers, &workers);
	replace(&c->workers_in_ctx, &in);
	common = properties(proc, &workers);
	if (c->properties != common)
		c->properties = common; /* before there are tasks: others may read it later */
	c->notify_change_workers(c);
}

/* A queue without limits refuses nothing. */
static int takes_all(const struct starpu_sched_component *root)
{
	const struct orr_compq *q = orr_compq_of(root);

	return q && !orr_compq_decides(root) && !q->max_tasks && !q->max_ns;
}

void starpu_sched_tree_update_workers(struct starpu_sched_tree *t)
{
	if (!t->root)
		return;
	if (!t->overflow && !takes_all(t->root)) {
		t->overflow = orr_component_queue(t, "overflow", 0);
		((struct orr_compq *) t->overflow->data)->always_pushes = 1;
		starpu_sched_component_connect(t->overflow, t->root);
	}
	update(t, t->overflow ? t->overflow : t->root);
}

void starpu_sched_tree_update_workers_in_ctx(struct starpu_sched_tree *t)
{
	starpu_sched_tree_update_workers(t);
}

void starpu_sched_tree_add_workers(unsigned sched_ctx_id, int *workerids, unsigned nworkers)
{
	struct starpu_sched_tree *t = starpu_sched_tree_get(sched_ctx_id);

	for (unsigned i = 0; i < nworkers && t; i++)
		starpu_bitmap_set(&t->workers, workerids[i]);
	if (!t)
		return;
	starpu_sched_tree_update_workers_in_ctx(t);
	starpu_sched_tree_do_schedule(sched_ctx_id);
}

static void evacuate(struct starpu_sched_component *c, struct starpu_task_list *list)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->nchildren; i++)
		evacuate(c->children[i], list);
	c->notify(c, ORR_COMPONENT_EVACUATE, list);
}

void starpu_sched_tree_remove_workers(unsigned sched_ctx_id, int *workerids, unsigned nworkers)
{
	struct starpu_sched_tree *t = starpu_sched_tree_get(sched_ctx_id);
	struct orr_process *proc = orr_self();
	struct starpu_task_list list;
	struct starpu_task *task;

	if (!t)
		return;
	for (unsigned i = 0; i < nworkers; i++)
		starpu_bitmap_unset(&t->workers, workerids[i]);
	starpu_sched_tree_update_workers_in_ctx(t);
	starpu_task_list_init(&list);
	evacuate(t->overflow ? t->overflow : t->root, &list);
	while ((task = starpu_task_list_pop_front(&list)))
		orr_ctx_push(proc, orr_task_of(task));
}

/* ---- tasks ---- */

int starpu_sched_tree_push_task(struct starpu_task *task)
{
	struct starpu_sched_tree *t = starpu_sched_tree_get(orr_task_of(task)->ctx);
	struct starpu_sched_component *top = t ? t->overflow ? t->overflow : t->root : NULL;

	if (!top) {
		orr_error(
			"starpu_sched_tree_push_task: context %u has no tree with a root; call starpu_sched_tree_update_workers when it is complete",
			(unsigned) orr_task_of(task)->ctx);
		return -EINVAL;
	}
	if (!starpu_sched_component_can_execute_task(top, task))
		return -ENODEV;
	task->predicted = task->predicted_transfer = NAN;
	return top->push_task(top, task);
}

/* The nearest work-stealing component above, or NULL. */
static struct starpu_sched_component *stealing_above(struct starpu_sched_component *c)
{
	while (c && !starpu_sched_component_is_work_stealing(c))
		c = c->nparents ? c->parents[0] : NULL;
	return c;
}

int starpu_sched_tree_work_stealing_push_task(struct starpu_task *task)
{
	struct starpu_sched_tree *t = starpu_sched_tree_get(orr_task_of(task)->ctx);
	struct orr_worker *w = orr_thread_self()->worker;
	struct starpu_sched_component *c = t && w ? stealing_above(t->worker[w->id]) : NULL;

	if (c && starpu_sched_component_can_execute_task(c, task) && !c->push_task(c, task))
		return 0;
	return starpu_sched_tree_push_task(task);
}

struct starpu_task *starpu_sched_tree_pop_task(unsigned sched_ctx)
{
	struct starpu_sched_tree *t = starpu_sched_tree_get(sched_ctx);
	struct orr_worker *w = orr_thread_self()->worker;
	struct starpu_sched_component *c = t && w ? t->worker[w->id] : NULL;
	struct starpu_task *task;
	int pulling;

	if (!c)
		return NULL;
	pulling = orr_comp_set_pulling(t, 1);
	task = c->pull_task(c, NULL);
	orr_comp_set_pulling(t, pulling);
	/* It was chosen for another worker, from which this one has stolen the task. */
	if (task && orr_task_of(task)->impl_chosen &&
	    !orr_task_can_run(w, task, orr_task_of(task)->nimpl))
		orr_task_of(task)->impl_chosen = 0;
	return task;
}

void starpu_sched_tree_do_schedule(unsigned sched_ctx_id)
{
	struct starpu_sched_tree *t = starpu_sched_tree_get(sched_ctx_id);
	struct starpu_sched_component *top = t ? t->overflow ? t->overflow : t->root : NULL;

	if (top)
		top->do_schedule(top);
}
