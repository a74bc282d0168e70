/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates (see estimate.h for the order of the sources).
 *
 * The common case, a footprint that was measured, is a search in the shared index without a lock.
 * Values derived from other footprints or from fits enter the index, too, if they depend on the
 * footprint only. */
#include "perf/estimate.h"

#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "perf/arch_table.h"
#include "perf/model_derive.h"
#include "perf/model_index.h"
#include "perf/model_learn.h"
#include "perf/model_part.h"
#include "perf/model_state.h"

/* Assumed of tasks of which nothing is known. */
#define DEFAULT_US 10.0
#define DEFAULT_BYTES_PER_US 4000.0

/* A question under way. */
struct search {
	const struct orr_query *q;
	struct _starpu_perfmodel_state *s; /* NULL: the model has none */
	const struct orr_arch *arch;
	struct starpu_perfmodel_device d; /* the arch as the model's file names it */
	double speed;                     /* out: of the nearest entry, 0: unknown */
};

static void note_once(struct orr_model *m, size_t size, uint32_t footprint,
		      enum orr_perf_source source, int exact)
{
	if ((source != ORR_PERF_BY_SIZE && source != ORR_PERF_FLOPS) ||
	    ORR_ATOMIC_XCHG(&m->noted, 1))
		return;
	orr_info(
		"performance model %s of %s: footprint %08x was never measured; using %s (%zu bytes). Said once per model; "
		"STARPU_CALIBRATE=1 measures it",
		m->symbol, m->machine, footprint,
		exact ? "measurements of the same size"
		: source == ORR_PERF_BY_SIZE
			? "an interpolation between the nearest sizes"
			: "an extrapolation of the curve through the measured sizes",
		size);
}

/* True if nothing but the sizes that were measured says how long the task takes. */
static int knows_sizes_only(const struct search *s)
{
	const struct starpu_perfmodel *model = s->q->model;
	return !(s->q->task->flops > 0) && !s->s->parts && !model->cost_function &&
	       !model->arch_cost_function && !model->worker_cost_function;
}

/* From other footprints or a fit. While calibrating only fits count, unless the caller needs some
 * time in any case. */
static struct orr_estimate from_others(struct search *s, unsigned comb, uint32_t footprint)
{
	const struct orr_query *q = s->q;
	const struct orr_config *cfg = orr_perf_cfg(s->s->perf);
	struct orr_model *m = s->s->m;
	double row[ORR_MODEL_MAX_COEFFS];
	int has_row = q->model->type == STARPU_MULTIPLE_REGRESSION_BASED && !orr_query_row(q, row);
	size_t size = orr_query_size(q, &s->d);
	struct orr_estimate r = ORR_ESTIMATE_UNKNOWN;
	int exact = 0;

	orr_lock(&m->lock);

	struct orr_model_comb *c = m->data->combs[comb];
	struct orr_model_impl *impl = q->nimpl < c->nimpls ? &c->impls[q->nimpl] : NULL;

	if (impl) {
		orr_model_refit(impl, cfg);
		r = orr_model_derive_fit(q->model, impl, size, has_row ? row : NULL);
		r.deviation = isnan(r.us) ? 0 : r.us * orr_model_derive_deviation(impl);
		if (isnan(r.us) && (cfg->calibrate == 0 || q->use_defaults)) {
			r = orr_model_derive_same_size(impl, size, q->task->flops);
			exact = !isnan(r.us);
			if (!exact)
				r = orr_model_derive_between(impl, size, q->task->flops);
			if (isnan(r.us) && knows_sizes_only(s))
				r = orr_model_derive_beyond(impl, size);
		}
		if (isnan(r.us) && q->task->flops > 0)
			s->speed = orr_model_derive_nearest_speed(impl, q->task->flops);
		if (!isnan(r.us) && s->s->plain && !m->learning && !has_row)
			orr_model_index_put(m, orr_model_index_key(comb, q->nimpl, footprint), NULL,
					    r.us, r.deviation, r.source);
	}
	orr_assert(isnan(r.us) ? r.source == ORR_PERF_UNKNOWN : r.us > 0 && isfinite(r.us));
	orr_unlock(&m->lock);
	note_once(m, size, footprint, r.source, exact);
	return r;
}

static struct orr_estimate read_entry(const struct orr_model_entry *e)
{
	struct orr_estimate r = { .source = ORR_PERF_CALIBRATED };

	__atomic_load(&e->pub.mean, &r.us, __ATOMIC_RELAXED);
	__atomic_load(&e->pub.deviation, &r.deviation, __ATOMIC_RELAXED);
	return r;
}

/* From the measurements of the footprint. While calibrating a scheduler is told "unknown" until
 * there are enough samples, so that it tries all workers. */
static struct orr_estimate from_entry(const struct search *s, const struct orr_model_entry *e)
{
	const struct orr_config *cfg = orr_perf_cfg(s->s->perf);
	unsigned n = ORR_ATOMIC_LOAD(&e->pub.nsample);
	struct orr_estimate r = ORR_ESTIMATE_UNKNOWN;

	if (n &&
	    (s->q->use_defaults || cfg->calibrate == 0 || n >= (unsigned) cfg->calibrate_minimum))
		r = read_entry(e);
	return r.us > 0 ? r : ORR_ESTIMATE_UNKNOWN;
}

/* From the fit, with the relative deviation of the footprint's measurements. */
static struct orr_estimate from_fit(const struct search *s, unsigned comb,
				    const struct orr_estimate *measured)
{
	const struct orr_query *q = s->q;
	struct orr_model *m = s->s->m;
	double row[ORR_MODEL_MAX_COEFFS];
	int has_row = q->model->type == STARPU_MULTIPLE_REGRESSION_BASED && !orr_query_row(q, row);
	size_t size = orr_query_size(q, &s->d);

	orr_lock(&m->lock);

	struct orr_model_impl *impl = &m->data->combs[comb]->impls[q->nimpl];

	orr_model_refit(impl, orr_perf_cfg(s->s->perf));

	struct orr_estimate r = orr_model_derive_fit(q->model, impl, size, has_row ? row : NULL);

	orr_unlock(&m->lock);
	r.deviation = r.us * measured->deviation / measured->us;
	return r;
}

static struct orr_estimate from_model(struct search *s)
{
	const struct orr_query *q = s->q;
	const struct orr_config *cfg = orr_perf_cfg(s->s->perf);
	struct orr_model *m = s->s->m;
	struct orr_model_index *x = ORR_ATOMIC_LOAD(&m->index);
	int comb = x->ncombs ? orr_model_index_find(x, (int) s->d.type, s->d.devid, s->d.ncores)
			     : -1;

	if (comb < 0)
		return ORR_ESTIMATE_UNKNOWN;

	uint32_t footprint = orr_query_footprint(q);
	struct orr_model_slot *slot = orr_model_index_lookup(
		x, orr_model_index_key((unsigned) comb, q->nimpl, footprint));

	if (slot && !slot->entry && s->s->plain && !ORR_ATOMIC_LOAD(&m->learning) &&
	    (cfg->calibrate == 0 || q->use_defaults))
		return (struct orr_estimate){ slot->us, slot->deviation, slot->source };

	struct orr_estimate measured = slot && slot->entry ? from_entry(s, slot->entry)
							   : ORR_ESTIMATE_UNKNOWN;

	if (isnan(measured.us))
		return from_others(s, (unsigned) comb, footprint);
	if (q->model->type != STARPU_REGRESSION_BASED &&
	    q->model->type != STARPU_MULTIPLE_REGRESSION_BASED)
		return measured;

	struct orr_estimate fit = from_fit(s, (unsigned) comb, &measured);

	return isnan(fit.us) ? measured : fit;
}

/* ---- the program's own functions ---- */

static struct orr_estimate from_functions(const struct search *s)
{
	const struct orr_query *q = s->q;
	struct starpu_perfmodel *model = q->model;
	struct starpu_perfmodel_device copy = s->d;
	struct starpu_perfmodel_arch arch = { .ndevices = 1, .devices = &copy };
	struct orr_model_part *part = s->s && s->s->parts
					      ? orr_model_part(s->s, 1, &s->d, q->nimpl, 0)
					      : NULL;
	double us = NAN;

	if (part && part->pub.cost_function)
		us = part->pub.cost_function(q->task, &arch, q->nimpl);
	else if (model->type == STARPU_PER_WORKER && model->worker_cost_function)
		us = model->worker_cost_function(q->task, orr_arch_table_worker(q->proc, s->arch),
						 q->nimpl);
	else if (model->arch_cost_function &&
		 (model->type == STARPU_PER_ARCH || !model->cost_function))
		us = model->arch_cost_function(q->task, &arch, q->nimpl);
	else if (model->cost_function)
		us = model->cost_function(q->task, q->nimpl) / orr_arch_relative_speed(&s->d);
	if (!(us >= 0) || !isfinite(us))
		return ORR_ESTIMATE_UNKNOWN;
	return (struct orr_estimate){ us, 0, ORR_PERF_COST_FUNCTION };
}

/* ---- all sources ---- */

/* This fraction of a parallel task counts as sequential as long as the task was not measured on
 * that many cores. */
#define SERIAL_FRACTION 0.05

static struct orr_estimate from_one_core(const struct search *s)
{
	struct orr_arch one = *s->arch;

	if (s->arch->ncores <= 1 || !s->s || !s->s->m ||
	    (orr_perf_cfg(s->s->perf)->calibrate && !s->q->use_defaults))
		return ORR_ESTIMATE_UNKNOWN;
	one.ncores = 1;

	struct search seq = { .q = s->q,
			      .s = s->s,
			      .arch = &one,
			      .d = orr_arch_device(orr_perf_cfg(s->s->perf), &one) };
	struct orr_estimate r = from_model(&seq);

	if (isnan(r.us))
		return ORR_ESTIMATE_UNKNOWN;
	return (struct orr_estimate){ r.us * (SERIAL_FRACTION +
					      (1 - SERIAL_FRACTION) / s->arch->ncores),
				      0, ORR_PERF_COST_FUNCTION };
}

/* A slave that was not measured is taken for a core like ours. */
static struct orr_estimate from_own_core(const struct search *s)
{
	struct orr_arch core = { .type = STARPU_CPU_WORKER, .ncores = 1 };

	if (s->arch->type != STARPU_MPI_MS_WORKER || !s->s || !s->s->m ||
	    (orr_perf_cfg(s->s->perf)->calibrate && !s->q->use_defaults))
		return ORR_ESTIMATE_UNKNOWN;

	struct search own = { .q = s->q,
			      .s = s->s,
			      .arch = &core,
			      .d = orr_arch_device(orr_perf_cfg(s->s->perf), &core) };

	return from_model(&own);
}

static struct orr_estimate from_nothing(const struct search *s)
{
	const struct orr_query *q = s->q;
	double flops = q->task->flops, speed = 1;

	if (flops > 0)
		speed = s->speed > 0 ? s->speed : orr_estimate_flops(q->proc, q->arch);

	double us = flops / speed * 1e6;

	if (us > 0 && isfinite(us))
		return (struct orr_estimate){ us, 0, ORR_PERF_FLOPS };
	us = DEFAULT_US + (double) q->ops->data_size(q->task) / DEFAULT_BYTES_PER_US;
	return (struct orr_estimate){ us, 0, ORR_PERF_DEFAULT };
}

struct orr_estimate orr_estimate(const struct orr_query *q)
{
	struct search s = { .q = q, .arch = q->arch };
	struct orr_estimate r = ORR_ESTIMATE_UNKNOWN;

	if (q->model) {
		/* The library's own model serves all ranks, so it has no state. */
		if (q->model != &starpu_perfmodel_nop)
			s.s = orr_model_state(q->proc, q->model);
		s.d = orr_arch_device(s.s ? orr_perf_cfg(s.s->perf) : q->proc->cfg, q->arch);
		if (s.s && s.s->m)
			r = from_model(&s);
		if (isnan(r.us))
			r = from_one_core(&s);
		if (isnan(r.us))
			r = from_own_core(&s);
		if (isnan(r.us))
			r = from_functions(&s);
	}
	if (isnan(r.us) && q->use_defaults)
		r = from_nothing(&s);
	orr_assert(isnan(r.us) || (r.us >= 0 && isfinite(r.us) && r.source < ORR_PERF_UNKNOWN));
	return r;
}

/* The best speed of one core or device of that type in any loaded model. */
static double best_speed(struct orr_perf *p, enum starpu_worker_archtype type)
{
	double best = 0;

	orr_assert_locked(&p->lock);
	for (struct _starpu_perfmodel_state *s = p->states; s; s = s->next) {
		if (!s->m)
			continue;
		orr_lock(&s->m->lock);
		for (unsigned c = 0; c < s->m->data->ncombs; c++) {
			const struct orr_model_comb *comb = s->m->data->combs[c];
			if (comb->ndevices != 1 || comb->devices[0].type != type ||
			    comb->devices[0].ncores != 1)
				continue;
			for (unsigned e = 0; comb->nimpls && e < comb->impls[0].nentries; e++) {
				const struct starpu_perfmodel_history_entry *h =
					&comb->impls[0].entries[e]->pub;
				best = fmax(best, orr_model_derive_speed(h));
			}
		}
		orr_unlock(&s->m->lock);
	}
	return best;
}

double orr_estimate_flops(struct orr_process *proc, const struct orr_arch *a)
{
	struct orr_perf *p = proc->perf;
	int type = (int) a->type;
	int is_core = type == STARPU_CPU_WORKER || type == STARPU_MPI_MS_WORKER;
	double speed = is_core ? ORR_ARCH_CPU_FLOPS : ORR_ARCH_GPU_FLOPS;

	if (p && type >= 0 && type < STARPU_NARCH) {
		orr_lock(&p->lock);
		if (p->flops_states != p->nstates) {
			memset(p->flops, 0, sizeof(p->flops));
			p->flops_states = p->nstates;
		}
		if (p->flops[type] == 0) {
			double best = best_speed(p, a->type);
			p->flops[type] = best > 0 ? best : speed;
		}
		speed = p->flops[type];
		orr_unlock(&p->lock);
	}
	return speed * (a->ncores > 1 ? a->ncores : 1);
}
