/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The leaves of modular schedulers: workers and combined workers (see component.h).
 *
 * What is pushed to a worker waits in a queue of its own. A combined worker has none: its tasks are
 * launched on all members at once.
 *
 * Invariant: nunderway and underway_ns of a worker count tasks that it pulled or joined. A task
 * leaves nunderway when it completes, and underway_ns when it begins, if the policy has the hooks.
 */
#include "sched/component.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/flow/parallel.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"
#include "core/worker/wake.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- what it has ---- */

static void deinit(struct starpu_sched_component *c)
{
	struct orr_comp_worker *d = c->data;

	for (unsigned i = 0; i < STARPU_NMAXWORKERS; i++)
		if (c->tree->worker[i] == c)
			c->tree->worker[i] = NULL;
	orr_compq_exit(&d->q);
	free(d);
}

struct orr_comp_worker *orr_comp_worker_of(const struct starpu_sched_component *c)
{
	return c->deinit_data == deinit ? c->data : NULL;
}

int orr_comp_set_pulling(const struct starpu_sched_tree *tree, int pulling)
{
	struct orr_worker *w = orr_thread_self()->worker;
	struct starpu_sched_component *c = w ? tree->worker[w->id] : NULL;
	struct orr_comp_worker *d = c ? c->data : NULL;
	int before = d && d->pulling;

	if (d)
		d->pulling = pulling;
	return before;
}

struct orr_worker *orr_comp_pulling(const struct starpu_sched_tree *tree)
{
	struct orr_worker *w = orr_thread_self()->worker;
	struct starpu_sched_component *c = w ? tree->worker[w->id] : NULL;

	return c && ((struct orr_comp_worker *) c->data)->pulling ? w : NULL;
}

/* ---- a task comes, begins, ends ---- */

static int is_hooked(const struct starpu_sched_tree *tree)
{
	const struct starpu_sched_policy *p = orr_self()->core->ctx[tree->sched_ctx_id]->policy;

	return p->pre_exec_hook && p->post_exec_hook;
}

static void comes(struct orr_comp_worker *d, const struct starpu_task *task)
{
	ORR_ATOMIC_ADD_RELAXED(&d->nunderway, 1);
	ORR_ATOMIC_ADD_RELAXED(&d->underway_ns, orr_task_of(task)->load);
}

static int push_task(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct orr_comp_worker *d = c->data;

	orr_task_of(task)->load = task->predicted > 0 ? (int64_t) (task->predicted * 1e3) : 0;
	if (orr_compq_put(&d->q, task))
		return 1;
	orr_wake_worker(d->w);
	return 0;
}

static struct starpu_task *pull_task(struct starpu_sched_component *from,
				     struct starpu_sched_component *to)
{
	struct orr_comp_worker *d = from->data;
	struct starpu_task *task = orr_compq_take(&d->q, from, 0);

	(void) to;
	if (!task)
		task = starpu_sched_component_parents_pull_task(from, from);
	if (task && is_hooked(from->tree))
		comes(d, task);
	return task;
}

static int can_pull(struct starpu_sched_component *c)
{
	const struct orr_comp_worker *d = c->data;

	return starpu_bitmap_get(&c->workers_in_ctx, (int) d->w->id) &&
	       starpu_wake_worker_relax_light((int) d->w->id);
}

static int evacuate(struct starpu_sched_component *c, int message, void *arg)
{
	struct orr_comp_worker *d = c->data;

	if (message == ORR_COMPONENT_EVACUATE)
		orr_compq_evacuate(&d->q, c, arg);
	return 0;
}

static struct orr_comp_worker *in_tree(unsigned sched_ctx_id, unsigned worker)
{
	struct starpu_sched_tree *tree = starpu_sched_tree_get(sched_ctx_id);

	return tree && tree->worker[worker] ? tree->worker[worker]->data : NULL;
}

static void begins(unsigned ctx, unsigned worker, const struct orr_task *t, int64_t end)
{
	struct orr_comp_worker *d = in_tree(ctx, worker);

	if (!d)
		return;
	ORR_ATOMIC_ADD_RELAXED(&d->underway_ns, -t->load);
	ORR_ATOMIC_STORE_RELAXED(&d->free_ns, end);
}

static void ends(unsigned ctx, unsigned worker)
{
	struct orr_comp_worker *d = in_tree(ctx, worker);

	if (!d)
		return;
	ORR_ATOMIC_STORE_RELAXED(&d->free_ns, 0);
	ORR_ATOMIC_ADD_RELAXED(&d->nunderway, (unsigned) -1);
}

/* One that came to the worker without the tree, because the program named the worker, is counted
 * from here on. */
static void is_new(unsigned ctx, unsigned worker, struct orr_task *t)
{
	struct orr_comp_worker *d = in_tree(ctx, worker);

	t->load = 0;
	if (d)
		comes(d, t->pub);
}

void starpu_sched_component_worker_pre_exec_hook(struct starpu_task *task, unsigned sched_ctx_id)
{
	unsigned self = orr_thread_self()->worker->id;
	struct orr_task *t = orr_task_of(task);
	int64_t end = orr_comp_now_ns() +
		      (task->predicted > 0 ? (int64_t) (task->predicted * 1e3) : 0);
	const struct orr_combined *comb = t->parallel ? t->parallel->comb : NULL;

	for (unsigned i = 0; i < (comb ? comb->n : 1); i++) {
		unsigned w = comb ? (unsigned) comb->workers[i] : self;

		if (task->execute_on_a_specific_worker)
			is_new(sched_ctx_id, w, t);
		begins(sched_ctx_id, w, t, end);
	}
}

void starpu_sched_component_worker_post_exec_hook(struct starpu_task *task, unsigned sched_ctx_id)
{
	const struct orr_task *t = orr_task_of(task);
	const struct orr_combined *comb = t->parallel ? t->parallel->comb : NULL;

	for (unsigned i = 0; i < (comb ? comb->n : 1); i++)
		ends(sched_ctx_id,
		     comb ? (unsigned) comb->workers[i] : orr_thread_self()->worker->id);
}

/* ---- estimates ---- */

static double end_us(struct orr_comp_worker *d)
{
	int64_t now = orr_comp_now_ns(), end = ORR_ATOMIC_LOAD_RELAXED(&d->free_ns),
		more = ORR_ATOMIC_LOAD_RELAXED(&d->underway_ns) +
		       ORR_ATOMIC_LOAD_RELAXED(&d->q.queued_ns);

	return ((end > now ? end : now) + (more > 0 ? more : 0)) * 1e-3;
}

static double estimated_end(struct starpu_sched_component *c)
{
	return end_us(c->data);
}

static double estimated_load(struct starpu_sched_component *c)
{
	double speed = orr_component_speed(c) / ORR_ARCH_CPU_FLOPS;

	return speed > 0 ? orr_component_ntasks(c) / speed : 0;
}

/* ---- combined workers ---- */

static int launch(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct orr_comp_worker *d = c->data;

	if (!starpu_sched_component_can_execute_task(c, task))
		return 1;
	orr_task_of(task)->load = task->predicted > 0 ? (int64_t) (task->predicted * 1e3) : 0;
	for (unsigned i = 0; i < d->comb->n && is_hooked(c->tree); i++) {
		struct starpu_sched_component *m = c->tree->worker[d->comb->workers[i]];

		if (m)
			comes(m->data, task);
	}
	orr_parallel_launch(orr_self(), orr_task_of(task), d->comb);
	return 0;
}

static int wake_nobody(struct starpu_sched_component *c)
{
	(void) c;
	return 0;
}

/* The time at which all members are free. */
static double combined_end(struct starpu_sched_component *c)
{
	const struct orr_comp_worker *d = c->data;
	double end = orr_sys_now_us();

	for (unsigned i = 0; i < d->comb->n; i++) {
		struct starpu_sched_component *m = c->tree->worker[d->comb->workers[i]];

		if (m)
			end = fmax(end, m->parents && orr_compq_of(m->parents[0])
						? m->parents[0]->estimated_end(m->parents[0])
						: end_us(m->data));
	}
	return end;
}

/* ---- making them ---- */

static struct starpu_sched_component *make(struct starpu_sched_tree *tree, unsigned id)
{
	struct orr_process *proc = orr_self();
	struct orr_comp_worker *d = orr_component_alloc(sizeof(*d));
	struct starpu_sched_component *c = orr_component_new(tree, "worker", d, deinit);

	orr_compq_init(&d->q, c);
	starpu_bitmap_set(&c->workers, (int) id);
	d->comb = orr_combined_get(proc, id);
	c->pull_task = pull_task;
	c->notify = evacuate;
	c->estimated_load = estimated_load;
	if (d->comb) {
		c->push_task = launch;
		c->pull_task = orr_component_pull_nothing;
		c->can_pull = wake_nobody;
		c->estimated_end = combined_end;
	} else {
		d->w = &proc->core->workers[id];
		c->push_task = push_task;
		c->can_pull = can_pull;
		c->estimated_end = estimated_end;
	}
	tree->worker[id] = c;
	return c;
}

static struct starpu_sched_component *worker_component_get(unsigned sched_ctx, int workerid,
							   const char *what)
{
	struct orr_process *proc = orr_self();
	struct starpu_sched_tree *tree = starpu_sched_tree_get(sched_ctx);

	if (!tree) {
		orr_error("%s: context %u has no tree; call starpu_sched_tree_create first", what,
			  sched_ctx);
		return NULL;
	}
	if (workerid < 0 || workerid >= STARPU_NMAXWORKERS ||
	    ((unsigned) workerid >= proc->core->nworkers &&
	     !orr_combined_get(proc, (unsigned) workerid))) {
		orr_error("%s: there is no worker %d", what, workerid);
		return NULL;
	}
	return tree->worker[workerid] ? tree->worker[workerid] : make(tree, (unsigned) workerid);
}

struct starpu_sched_component *starpu_sched_component_worker_get(unsigned sched_ctx, int workerid)
{
	return worker_component_get(sched_ctx, workerid, "starpu_sched_component_worker_get");
}

struct starpu_sched_component *starpu_sched_component_worker_new(unsigned sched_ctx, int workerid)
{
	return worker_component_get(sched_ctx, workerid, "starpu_sched_component_worker_new");
}

struct starpu_sched_component *starpu_sched_component_parallel_worker_create(
	struct starpu_sched_tree *tree, unsigned nworkers, unsigned *workers)
{
	int ids[STARPU_NMAXWORKERS], id;

	for (unsigned i = 0; i < nworkers && i < STARPU_NMAXWORKERS; i++)
		ids[i] = (int) workers[i];
	id = nworkers <= STARPU_NMAXWORKERS ? orr_combined_assign(orr_self(), ids, nworkers)
					    : -EINVAL;
	if (id < 0) {
		orr_error(
			"starpu_sched_component_parallel_worker_create: these %u workers are no different CPU workers",
			nworkers);
		return NULL;
	}
	return worker_component_get(tree->sched_ctx_id, id,
				    "starpu_sched_component_parallel_worker_create");
}

int starpu_sched_component_worker_get_workerid(struct starpu_sched_component *worker_component)
{
	const struct orr_comp_worker *d = orr_comp_worker_of(worker_component);

	if (!d)
		return -1;
	return (int) (d->comb ? d->comb->id : d->w->id);
}

int starpu_sched_component_is_worker(struct starpu_sched_component *component)
{
	return orr_comp_worker_of(component) != NULL;
}

int starpu_sched_component_is_simple_worker(struct starpu_sched_component *component)
{
	const struct orr_comp_worker *d = orr_comp_worker_of(component);

	return d && !d->comb;
}

int starpu_sched_component_is_combined_worker(struct starpu_sched_component *component)
{
	const struct orr_comp_worker *d = orr_comp_worker_of(component);

	return d && d->comb;
}
