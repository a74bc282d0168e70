/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decisions of modular schedulers that look at times: mct, heft, and the choice of
 * implementations (see component.h).
 *
 * mct pushes each task where it costs least. heft has a queue by priority in front
 * of the decision: it looks at the first few tasks, places the most urgent one first (of equally
 * urgent ones that which would lose most elsewhere), and goes on with the next when one is refused.
 *
 * Invariant: of equal costs the first child wins. */
#include "sched/component.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/task/expect.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task.h"

#include <math.h>
#include <stdlib.h>

/* ---- the choice ---- */

struct mct {
	struct orr_compq q; /* heft and eager_prio; first, see orr_compq_of */
	struct starpu_sched_component_mct_data weight;
};

struct choice {
	struct starpu_sched_component *child; /* NULL: nobody can */
	struct orr_comp_estimate e;
	double cost, second; /* of the best child, and of the next best; INFINITY */
	int unknown;         /* nothing is known of this child */
	unsigned ntasks;
};

static double joules_us(const struct mct *d, struct starpu_task *task,
			const struct orr_comp_estimate *e, double end_us, double last_us)
{
	struct orr_process *proc = orr_self();
	const struct orr_combined *comb = orr_combined_get(proc, e->worker);
	double joules;

	if (!task->cl->energy_model && !(d->weight.idle_power > 0) && !(proc->idle_watts > 0))
		return 0;
	joules = orr_expect_joules(proc,
				   comb ? &comb->arch : proc->core->workers[e->worker].perf_arch,
				   task, e->impl, e->us);
	return d->weight._gamma *
	       ((isnan(joules) ? 0 : joules) +
		fmax(d->weight.idle_power, 0) * fmax(0, end_us - last_us) * 1e-6);
}

/* Prefers the cheapest child with an estimate. A child without one is tried while calibrating, if
 * it has no tasks, or if no child has an estimate; the one with the fewest tasks wins. */
static void consider(struct choice *best, const struct choice *c, int calibrate)
{
	double second = fmin(best->second, fmax(best->cost, c->cost));

	if (!best->child) {
		*best = *c;
		return;
	}
	if (c->unknown != best->unknown
		    ? (c->unknown ? calibrate || !c->ntasks : !(calibrate || !best->ntasks))
	    : c->unknown ? c->ntasks < best->ntasks
			 : c->cost < best->cost)
		*best = *c;
	best->second = second;
}

static struct choice choose(struct starpu_sched_component *c, const struct mct *d,
			    struct starpu_task *task)
{
	struct choice best = { .cost = INFINITY, .second = INFINITY };
	double now = orr_sys_now_us(), last = now, end[c->nchildren + 1];

	for (unsigned i = 0; i < c->nchildren; i++) {
		end[i] = c->children[i]->estimated_end(c->children[i]);
		last = fmax(last, end[i]);
	}
	for (unsigned i = 0; i < c->nchildren; i++) {
		struct choice x = { .child = c->children[i], .cost = INFINITY, .second = INFINITY };

		x.e = orr_component_estimate(x.child, task);
		if (!x.e.able)
			continue;
		x.unknown = !x.e.known;
		x.ntasks = x.unknown ? orr_component_ntasks(x.child) : 0;
		if (!x.unknown)
			x.cost = end[i] - now + d->weight.alpha * x.e.us +
				 d->weight.beta * x.e.transfer_us +
				 joules_us(d, task, &x.e, end[i] + x.e.us + x.e.transfer_us, last);
		consider(&best, &x, orr_self()->cfg->calibrate);
	}
	return best;
}

static int place(const struct choice *best, struct starpu_task *task)
{
	if (!best->child)
		return 1;
	orr_component_decide(task, &best->e);
	return best->child->push_task(best->child, task);
}

/* ---- mct ---- */

static void set_weights(struct mct *d, const struct starpu_sched_component_mct_data *data)
{
	const struct orr_config *cfg = orr_self()->cfg;

	if (data)
		d->weight = *data;
	else
		d->weight = (struct starpu_sched_component_mct_data){ cfg->alpha, cfg->beta,
								      cfg->gamma, cfg->idle_power };
}

static void free_data(struct starpu_sched_component *c)
{
	free(c->data);
}

static int mct_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct choice best = choose(c, c->data, task);

	return place(&best, task);
}

struct starpu_sched_component *starpu_sched_component_mct_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_mct_data *mct_data)
{
	struct mct *d = orr_component_alloc(sizeof(*d));
	struct starpu_sched_component *c = orr_component_new(tree, "mct", d, free_data);

	set_weights(d, mct_data);
	c->push_task = mct_push;
	c->pull_task = orr_component_pull_nothing;
	return c;
}

int starpu_sched_component_is_mct(struct starpu_sched_component *component)
{
	return component->push_task == mct_push;
}

/* ---- decisions with a queue ---- */

static void deciding_deinit(struct starpu_sched_component *c)
{
	struct mct *d = c->data;

	orr_compq_exit(&d->q);
	free(d);
}

int orr_compq_decides(const struct starpu_sched_component *c)
{
	return c->deinit_data == deciding_deinit;
}

#define WINDOW 8

static unsigned take_window(struct mct *d, struct starpu_sched_component *c,
			    struct starpu_task **task)
{
	unsigned n = 0;

	while (n < WINDOW && (task[n] = orr_compq_take(&d->q, c, 0)))
		n++;
	return n;
}

/* Of tasks that are not placed and may still be, the most urgent one; among equals, the one that
 * would lose most elsewhere. n when there is none. */
static unsigned next_to_place(struct starpu_task **task, const struct choice *best, unsigned n)
{
	unsigned first = n;
	double loss = 0;

	for (unsigned i = 0; i < n; i++) {
		double x = best[i].second - best[i].cost;

		if (!best[i].child ||
		    (first < n && (task[i]->priority < task[first]->priority ||
				   (task[i]->priority == task[first]->priority && !(x > loss)))))
			continue;
		first = i;
		loss = x;
	}
	return first;
}

/* Places the first few tasks one after the other; what is refused goes back, in its order. A task
 * is thought about again when its best place got another one. Returns whether any was placed. */
static int heft_place(struct starpu_sched_component *c)
{
	struct starpu_task *task[WINDOW];
	struct choice best[WINDOW];
	struct mct *d = c->data;
	unsigned n = take_window(d, c, task), next;
	int placed = 0;

	for (unsigned i = 0; i < n; i++)
		best[i] = choose(c, d, task[i]);
	while ((next = next_to_place(task, best, n)) < n) {
		struct starpu_sched_component *child = best[next].child;
		int refused = place(&best[next], task[next]);

		best[next].child = NULL;
		if (refused)
			continue;
		task[next] = NULL;
		placed = 1;
		for (unsigned i = 0; i < n; i++)
			if (task[i] && best[i].child == child)
				best[i] = choose(c, d, task[i]);
	}
	for (unsigned i = n; i-- > 0;)
		if (task[i])
			orr_compq_put_back(&d->q, task[i]);
	return placed;
}

/* ---- heft: one thread at a time, as in orr_compq_pump ---- */

static int place_all(void *arg)
{
	struct starpu_sched_component *c = arg;
	int any = 0, pulling = orr_comp_set_pulling(c->tree, 0);

	while (heft_place(c))
		any = 1;
	orr_comp_set_pulling(c->tree, pulling);
	return any;
}

static int decide(struct starpu_sched_component *c)
{
	struct mct *d = c->data;

	return orr_component_in_turn(&d->q.pumping, place_all, c);
}

static int heft_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct mct *d = c->data;

	orr_task_of(task)->load = 0;
	if (orr_compq_put(&d->q, task))
		return 1;
	decide(c);
	return 0;
}

static int heft_can_push(struct starpu_sched_component *from, struct starpu_sched_component *to)
{
	const struct mct *d = from->data;
	int any = 0;

	(void) to;
	if (ORR_ATOMIC_LOAD(&d->q.q.ntasks) || ORR_ATOMIC_LOAD(&d->q.pumping))
		any = decide(from);
	return starpu_sched_component_send_can_push_to_parents(from) || any;
}

static int evacuate(struct starpu_sched_component *c, int message, void *arg)
{
	struct mct *d = c->data;

	if (message == ORR_COMPONENT_EVACUATE)
		orr_compq_evacuate(&d->q, c, arg);
	return 0;
}

static void do_schedule(struct starpu_sched_component *c)
{
	decide(c);
	for (unsigned i = 0; i < c->nchildren; i++)
		c->children[i]->do_schedule(c->children[i]);
}

struct starpu_sched_component *starpu_sched_component_heft_create(
	struct starpu_sched_tree *tree, struct starpu_sched_component_mct_data *mct_data)
{
	struct mct *d = orr_component_alloc(sizeof(*d));
	struct starpu_sched_component *c = orr_component_new(tree, "heft", d, deciding_deinit);

	orr_compq_init(&d->q, c);
	d->q.by_prio = 1;
	set_weights(d, mct_data);
	c->push_task = heft_push;
	c->pull_task = orr_component_pull_nothing;
	c->can_push = heft_can_push;
	c->notify = evacuate;
	c->do_schedule = do_schedule;
	return c;
}

int starpu_sched_component_is_heft(struct starpu_sched_component *component)
{
	return component->push_task == heft_push;
}

/* ---- implementations ---- */

static void choose_implementation(struct starpu_sched_component *c, struct starpu_task *task)
{
	struct orr_comp_estimate e = orr_component_estimate(c, task);
	struct orr_task *t = orr_task_of(task);

	if (!e.able || t->forced_impl)
		return;
	t->nimpl = (uint8_t) e.impl;
	t->impl_chosen = 1;
}

static int implementation_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	choose_implementation(c, task);
	return c->nchildren ? c->children[0]->push_task(c->children[0], task) : 1;
}

static struct starpu_task *implementation_pull(struct starpu_sched_component *from,
					       struct starpu_sched_component *to)
{
	struct starpu_task *task = starpu_sched_component_parents_pull_task(from, to);

	if (task)
		choose_implementation(from, task);
	return task;
}

struct starpu_sched_component *starpu_sched_component_best_implementation_create(
	struct starpu_sched_tree *tree, void *arg)
{
	struct starpu_sched_component *c = starpu_sched_component_create(tree,
									 "best_implementation");

	(void) arg;
	c->push_task = implementation_push;
	c->pull_task = implementation_pull;
	return c;
}
