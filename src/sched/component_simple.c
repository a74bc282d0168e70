/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simple schedulers: trees around one decision, or several (see component.h).
 *
 * From the root down: the queue above; the decision, perhaps behind a choice by what models know;
 * for each group of workers that it chooses among, a queue and a component that spreads tasks over
 * the group; above each worker the choice of implementations.
 *
 * Invariant: each worker is below each decision. */
#include "sched/component.h"
#include "base/log.h"
#include "core/worker/core.h"

#include <stdarg.h>

#define FLAG(NAME) (flags & STARPU_SCHED_SIMPLE_##NAME)

/* ---- below the decision ---- */

/* Workers of one key form a group. */
static unsigned key(const struct orr_worker *w, unsigned flags)
{
	switch (FLAG(DECIDE_MASK)) {
	case STARPU_SCHED_SIMPLE_DECIDE_MEMNODES: return w->memnode;
	case STARPU_SCHED_SIMPLE_DECIDE_ARCHS: return w->arch;
	default: return w->id;
	}
}

/* The variable if it was given. */
static int override(int variable, unsigned flag)
{
	return variable >= 0 ? variable : flag != 0;
}

static struct starpu_sched_component *queue_below(struct starpu_sched_tree *t, unsigned flags)
{
	const struct orr_config *cfg = orr_self()->cfg;
	int limits = !FLAG(FIFOS_BELOW_NOLIMIT);
	struct starpu_sched_component_prio_data data = {
		.ntasks_threshold = limits ? (unsigned) cfg->ntasks_threshold : 0,
		.exp_len_threshold = limits ? cfg->exp_len_threshold : 0,
		.ready = override(cfg->sched_ready, FLAG(FIFOS_BELOW_READY)),
		.exp = FLAG(FIFOS_BELOW_EXP) != 0,
	};
	struct starpu_sched_component *c = starpu_sched_component_prio_create(t, &data);
	struct orr_compq *q = orr_compq_of(c);

	q->by_prio = override(cfg->sched_sorted_below, FLAG(FIFOS_BELOW_PRIO));
	q->steals = FLAG(WS_BELOW) != 0;
	return c;
}

static void add_worker(struct starpu_sched_tree *t, struct starpu_sched_component **top,
		       struct starpu_sched_component **bottom, unsigned flags, unsigned id)
{
	struct starpu_sched_component *w = starpu_sched_component_worker_new(t->sched_ctx_id,
									     (int) id),
				      *c = w;

	if (FLAG(IMPL)) {
		c = starpu_sched_component_best_implementation_create(t, NULL);
		starpu_sched_component_connect(c, w);
	}
	if (*bottom)
		starpu_sched_component_connect(*bottom, c);
	else
		*top = *bottom = c;
}

/* The group of worker `first`, whose key no worker before it has; what stands on top of it. */
static struct starpu_sched_component *make_group(struct starpu_sched_tree *t, unsigned flags,
						 unsigned first)
{
	struct orr_core *core = orr_self()->core;
	unsigned k = key(&core->workers[first], flags), n = 0;
	struct starpu_sched_component *top = NULL, *bottom = NULL, *spread;

	for (unsigned i = first; i < core->nworkers; i++)
		n += key(&core->workers[i], flags) == k;
	if (FLAG(FIFOS_BELOW))
		top = bottom = queue_below(t, flags);
	if (n > 1) {
		spread = FLAG(WS_BELOW) ? starpu_sched_component_work_stealing_create(t, NULL)
					: starpu_sched_component_eager_create(t, NULL);
		if (bottom)
			starpu_sched_component_connect(bottom, spread);
		else
			top = spread;
		bottom = spread;
	}
	for (unsigned i = first; i < core->nworkers; i++)
		if (key(&core->workers[i], flags) == k)
			add_worker(t, &top, &bottom, flags, i);
	return top;
}

/* Workers of one kind, each with a queue, below a decision among them; what stands on top. */
static struct starpu_sched_component *make_kind(struct starpu_sched_tree *t, unsigned flags,
						enum starpu_worker_archtype arch)
{
	struct orr_core *core = orr_self()->core;
	struct starpu_sched_component *decision = NULL;

	for (unsigned i = 0; i < core->nworkers; i++) {
		if (core->workers[i].arch != arch)
			continue;
		if (!decision)
			decision = starpu_sched_component_mct_create(t, NULL);
		starpu_sched_component_connect(decision, make_group(t, flags, i));
	}
	return decision;
}

static int is_first_of_group(unsigned id, unsigned flags)
{
	struct orr_core *core = orr_self()->core;
	unsigned i = 0;

	while (key(&core->workers[i], flags) != key(&core->workers[id], flags))
		i++;
	return i == id;
}

/* Connects all groups with each of the decisions. */
static void make_groups(struct starpu_sched_tree *t, unsigned flags,
			struct starpu_sched_component **decision, unsigned n)
{
	struct orr_process *proc = orr_self();

	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		struct starpu_sched_component *top = is_first_of_group(i, flags)
							     ? make_group(t, flags, i)
							     : NULL;

		for (unsigned k = 0; k < n && top; k++)
			starpu_sched_component_connect(decision[k], top);
	}
	if (!FLAG(COMBINED_WORKERS))
		return;
	orr_combined_build(proc);
	for (unsigned i = 0; i < proc->core->ncombined; i++)
		for (unsigned k = 0; k < n; k++)
			starpu_sched_component_connect(
				decision[k],
				starpu_sched_component_worker_new(
					t->sched_ctx_id, (int) (proc->core->nworkers + i)));
}

/* ---- the decision and what is above ---- */

static struct starpu_sched_component *queue_above(struct starpu_sched_tree *t, unsigned flags)
{
	return override(orr_self()->cfg->sched_sorted_above, FLAG(FIFO_ABOVE_PRIO))
		       ? starpu_sched_component_prio_create(t, NULL)
		       : starpu_sched_component_fifo_create(t, NULL);
}

/* The decision comes first; then a queue, from which all groups are served. */
static struct starpu_sched_component *decide_before(struct starpu_sched_tree *t, unsigned flags,
						    struct starpu_sched_component *decision)
{
	struct starpu_sched_component *q = queue_above(t, flags),
				      *spread = starpu_sched_component_eager_create(t, NULL);

	starpu_sched_component_connect(decision, q);
	starpu_sched_component_connect(q, spread);
	make_groups(t, flags, &spread, 1);
	return decision;
}

static struct starpu_sched_component *make(struct starpu_sched_tree *t,
					   starpu_sched_component_create_t create, void *data,
					   unsigned flags)
{
	struct starpu_sched_component *decision[3] = { create(t, data) }, *top = decision[0], *q;
	unsigned n = 1;

	if (!top)
		orr_fatal("a simple scheduler has no decision: its function returned NULL");
	if (FLAG(PRE_DECISION))
		return decide_before(t, flags, top);
	if (FLAG(PERFMODEL)) {
		struct starpu_sched_component_perfmodel_select_data by = {
			.calibrator_component = starpu_sched_component_eager_calibration_create(
				t, NULL),
			.no_perfmodel_component = starpu_sched_component_eager_create(t, NULL),
			.perfmodel_component = decision[0],
		};

		decision[n++] = by.calibrator_component;
		decision[n++] = by.no_perfmodel_component;
		top = starpu_sched_component_perfmodel_select_create(t, &by);
	}
	make_groups(t, flags, decision, n);
	if (FLAG(FIFO_ABOVE)) {
		q = queue_above(t, flags);
		starpu_sched_component_connect(q, top);
		top = q;
	}
	return top;
}

static void finish(struct starpu_sched_tree *t, struct starpu_sched_component *root)
{
	t->root = root;
	starpu_sched_tree_update_workers(t);
	starpu_sched_ctx_set_policy_data(t->sched_ctx_id, t);
}

void starpu_sched_component_initialize_simple_scheduler(
	starpu_sched_component_create_t create_decision_component, void *data, unsigned flags,
	unsigned sched_ctx_id)
{
	struct starpu_sched_tree *t = starpu_sched_tree_create(sched_ctx_id);

	if (t)
		finish(t, make(t, create_decision_component, data, flags));
}

void orr_component_kinds_then_workers(unsigned ctx, starpu_sched_component_create_t create,
				      unsigned flags)
{
	struct starpu_sched_tree *t = starpu_sched_tree_create(ctx);
	struct starpu_sched_component *kinds, *below;

	if (!t)
		return;
	kinds = create(t, NULL);
	for (unsigned arch = 0; arch < STARPU_NARCH; arch++)
		if ((below = make_kind(t, flags, (enum starpu_worker_archtype) arch)))
			starpu_sched_component_connect(kinds, below);
	finish(t, kinds);
}

void starpu_sched_component_initialize_simple_schedulers(unsigned sched_ctx_id, unsigned ndecisions,
							 ...)
{
	struct starpu_sched_tree *t = starpu_sched_tree_create(sched_ctx_id);
	struct starpu_sched_component *stage;
	va_list ap;

	if (!t)
		return;
	stage = starpu_sched_component_stage_create(t, NULL);
	va_start(ap, ndecisions);
	for (unsigned i = 0; i < ndecisions; i++) {
		starpu_sched_component_create_t create = va_arg(ap,
								starpu_sched_component_create_t);
		void *data = va_arg(ap, void *);
		unsigned flags = va_arg(ap, unsigned);

		starpu_sched_component_connect(stage, make(t, create, data, flags));
	}
	va_end(ap);
	finish(t, stage);
}
