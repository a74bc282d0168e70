/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions to components: who can execute a task below, how long it takes, when they are done.
 *
 * Invariant: asking changes nothing. */
#include "sched/component.h"
#include "core/task/expect.h"
#include "data/data.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"
#include "perf/estimate.h"

#include <math.h>

/* ---- who can ---- */

int orr_component_worker_can(struct orr_process *proc, unsigned id, struct starpu_task *task)
{
	const struct orr_combined *c;

	if (id < proc->core->nworkers)
		return orr_task_first_impl(&proc->core->workers[id], task) >= 0;
	c = orr_combined_get(proc, id);
	return c && orr_task_is_parallel(task) && orr_combined_first_impl(c, task) >= 0;
}

int starpu_sched_component_can_execute_task(struct starpu_sched_component *component,
					    struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct starpu_bitmap *in = &component->workers_in_ctx;

	for (int w = starpu_bitmap_first(in); w >= 0; w = starpu_bitmap_next(in, w))
		if (orr_component_worker_can(proc, (unsigned) w, task))
			return 1;
	return 0;
}

/* ---- how long ---- */

static const struct orr_arch *arch_of(struct orr_process *proc, unsigned id)
{
	const struct orr_combined *c = orr_combined_get(proc, id);

	return c ? &c->arch : proc->core->workers[id].perf_arch;
}

static unsigned memnode_of(struct orr_process *proc, unsigned id)
{
	const struct orr_combined *c = orr_combined_get(proc, id);

	return proc->core->workers[c ? (unsigned) c->workers[0] : id].memnode;
}

static int can_run(struct orr_process *proc, unsigned id, struct starpu_task *task, unsigned impl)
{
	const struct orr_combined *c = orr_combined_get(proc, id);
	const struct orr_task *t = orr_task_of(task);

	if (t->forced_impl && impl != t->nimpl)
		return 0;
	return c ? orr_task_is_parallel(task) && orr_combined_can_run(c, task, impl)
		 : orr_task_can_run(&proc->core->workers[id], task, impl);
}

/* The fastest implementation on one worker; while calibrating, the first of which too little is
 * known. */
static struct orr_comp_estimate estimate_on(struct orr_process *proc, unsigned id,
					    struct starpu_task *task)
{
	struct orr_comp_estimate e = { .worker = id,
				       .us = NAN,
				       .has_model = task->cl->model != NULL };

	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
		double us;

		if (!can_run(proc, id, task, i))
			continue;
		us = orr_expect_us(proc, arch_of(proc, id), task, i, 0, NULL);
		if (isnan(us) && !proc->cfg->calibrate && task->flops > 0)
			us = orr_expect_us(proc, arch_of(proc, id), task, i, 1, NULL);
		if (!e.able || (isnan(us) && proc->cfg->calibrate) ||
		    (!isnan(us) && (isnan(e.us) || us < e.us))) {
			e.us = us;
			e.impl = i;
		}
		e.able = 1;
		if (isnan(us) && proc->cfg->calibrate)
			break;
	}
	e.known = e.able && !isnan(e.us);
	return e;
}

static int same_arch(const struct orr_arch *a, const struct orr_arch *b)
{
	return a->type == b->type && a->devid == b->devid && a->ncores == b->ncores;
}

/* May workers of one kind differ for this task? */
static int one_by_one(const struct starpu_task *task)
{
	const struct starpu_perfmodel *model = task->cl->model;

	return task->cl->can_execute || task->workerids_len ||
	       (model && model->worker_cost_function);
}

static double transfer_us(struct orr_process *proc, unsigned memnode, struct starpu_task *task)
{
	double us = 0;

	if (proc->data->nmemnodes > 1)
		us = starpu_task_expected_data_transfer_time(memnode, task);
	return us > 0 ? us : 0;
}

static int is_better(const struct orr_comp_estimate *a, const struct orr_comp_estimate *than)
{
	if (!than->able || a->known != than->known)
		return !than->able || !a->known;
	return a->known && a->us + a->transfer_us < than->us + than->transfer_us;
}

/* Workers that are alike to the models, and stand side by side, are asked once. */
struct orr_comp_estimate orr_component_estimate(struct starpu_sched_component *c,
						struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct starpu_bitmap *in = &c->workers_in_ctx;
	struct orr_comp_estimate best = { .us = NAN };
	int last = -1;

	for (int w = starpu_bitmap_first(in); w >= 0; w = starpu_bitmap_next(in, w)) {
		struct orr_comp_estimate e;

		if (last >= 0 && !one_by_one(task) &&
		    same_arch(arch_of(proc, (unsigned) w), arch_of(proc, (unsigned) last)) &&
		    memnode_of(proc, (unsigned) w) == memnode_of(proc, (unsigned) last))
			continue;
		last = w;
		e = estimate_on(proc, (unsigned) w, task);
		if (!e.able)
			continue;
		e.transfer_us = transfer_us(proc, memnode_of(proc, (unsigned) w), task);
		if (is_better(&e, &best))
			best = e;
	}
	return best;
}

void orr_component_decide(struct starpu_task *task, const struct orr_comp_estimate *e)
{
	struct orr_task *t = orr_task_of(task);

	task->predicted = e->known ? e->us : NAN;
	task->predicted_transfer = e->transfer_us;
	if (t->forced_impl)
		return;
	t->nimpl = (uint8_t) e->impl;
	t->impl_chosen = 1;
}

int starpu_sched_component_execute_preds(struct starpu_sched_component *component,
					 struct starpu_task *task, double *length)
{
	struct orr_comp_estimate e = orr_component_estimate(component, task);

	*length = e.known ? e.us : e.has_model ? NAN : 0;
	return e.able;
}

double starpu_sched_component_transfer_length(struct starpu_sched_component *component,
					      struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct starpu_bitmap *in = &component->workers_in_ctx;
	double sum = 0;
	int n = 0;

	for (int w = starpu_bitmap_first(in); w >= 0; w = starpu_bitmap_next(in, w), n++) {
		unsigned node = memnode_of(proc, (unsigned) w);

		if (STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component))
			return transfer_us(proc, node, task);
		sum += transfer_us(proc, node, task);
	}
	return n ? sum / n : 0;
}

void starpu_sched_component_prefetch_on_node(struct starpu_sched_component *component,
					     struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	int w = starpu_bitmap_first(&component->workers_in_ctx);

	if (w >= 0 && proc->cfg->prefetch && proc->data->nmemnodes > 1 &&
	    STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component))
		starpu_prefetch_task_input_on_node(task, memnode_of(proc, (unsigned) w));
}

/* ---- how fast, how much, until when ---- */

double orr_component_speed(struct starpu_sched_component *c)
{
	struct orr_process *proc = orr_self();
	double speed = 0;

	for (int w = starpu_bitmap_first(&c->workers_in_ctx); w >= 0;
	     w = starpu_bitmap_next(&c->workers_in_ctx, w))
		speed += orr_estimate_flops(proc, arch_of(proc, (unsigned) w));
	return speed;
}

unsigned orr_component_ntasks(const struct starpu_sched_component *c)
{
	const struct orr_comp_worker *w = orr_comp_worker_of(c);
	const struct orr_compq *q = orr_compq_of(c);
	const struct starpu_sched_component *top = orr_composed_top(c);
	unsigned n = orr_ws_ntasks(c) + (q ? ORR_ATOMIC_LOAD_RELAXED(&q->q.ntasks) : 0) +
		     (w ? ORR_ATOMIC_LOAD_RELAXED(&w->nunderway) : 0);

	if (top)
		return orr_component_ntasks(top);
	for (unsigned i = 0; i < c->nchildren; i++)
		n += orr_component_ntasks(c->children[i]);
	return n;
}

double starpu_sched_component_estimated_load(struct starpu_sched_component *component)
{
	double load = 0;

	for (unsigned i = 0; i < component->nchildren; i++)
		load += component->children[i]->estimated_load(component->children[i]);
	return load;
}

double starpu_sched_component_estimated_end_min(struct starpu_sched_component *component)
{
	double least = INFINITY;

	for (unsigned i = 0; i < component->nchildren; i++)
		if (starpu_bitmap_first(&component->children[i]->workers_in_ctx) >= 0)
			least = fmin(least,
				     component->children[i]->estimated_end(component->children[i]));
	return isinf(least) ? orr_sys_now_us() : least;
}

double starpu_sched_component_estimated_end_min_add(struct starpu_sched_component *component,
						    double exp_len)
{
	int n = starpu_bitmap_cardinal(&component->workers_in_ctx);

	return starpu_sched_component_estimated_end_min(component) + exp_len / (n > 0 ? n : 1);
}

double starpu_sched_component_estimated_end_average(struct starpu_sched_component *component)
{
	double sum = 0;

	for (unsigned i = 0; i < component->nchildren; i++)
		sum += component->children[i]->estimated_end(component->children[i]);
	return component->nchildren ? sum / component->nchildren : orr_sys_now_us();
}
