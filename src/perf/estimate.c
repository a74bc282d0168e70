/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates: what a task will take on a unit. See perf.h for the order of sources.
 *
 * The common case, a footprint that was seen before, is a search in the shared index without a
 * lock; what follows from other footprints or from regressions is put there when it only depends on
 * the footprint. Invariant: an answer is a finite number that is not negative, or NAN. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "core/task.h"
#include "data/handle.h"
#include "perf/state.h"
#include "base/log.h"
#include "data/data.h"
#include "core/core.h"

/* Assumptions for units and tasks of which nothing is known. */
#define CPU_FLOPS 8e9
#define GPU_FLOPS 1e12
/* What no unit is slower or faster than. */
#define SLOWEST_FLOPS 1.0
#define FASTEST_FLOPS 1e21
#define DEFAULT_US 10.0
#define DEFAULT_BYTES_PER_US 4000.0

static const struct orr_estimate unknown = { NAN, 0, ORR_PERF_UNKNOWN };

/* ---- footprints and sizes ---- */

/* Computed each time: tasks change the shape of data (handbook 27.1). */
static uint32_t handle_footprint(starpu_data_handle_t h)
{
	return h->ops->footprint ? h->ops->footprint(h)
				 : starpu_hash_crc32c_be((uint32_t) starpu_data_get_size(h), 0);
}

uint32_t starpu_task_data_footprint(struct starpu_task *task)
{
	uint32_t crc = 0;
	unsigned n = orr_task_nbuffers(task);
	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = orr_task_handle(task, i);
		if (h && !(orr_task_mode(task, i) & STARPU_NOFOOTPRINT))
			crc = starpu_hash_crc32c_be(handle_footprint(h), crc);
	}
	return crc;
}

/* The hash as the codelet's time model wants it is kept beside the task. */
static uint32_t cached_footprint(struct starpu_perfmodel *model, struct orr_task *p)
{
	if (!ORR_ATOMIC_LOAD(&p->footprint_valid)) {
		p->footprint = model && model->footprint ? model->footprint(p->pub)
							 : starpu_task_data_footprint(p->pub);
		ORR_ATOMIC_STORE(&p->footprint_valid, 1);
	}
	return p->footprint;
}

uint32_t orr_perf_footprint(struct starpu_perfmodel *model, struct starpu_task *t)
{
	struct orr_task *p = orr_task_of(t);
	if (p && t->cl && t->cl->model == model)
		return cached_footprint(model, p);
	return model && model->footprint ? model->footprint(t) : starpu_task_data_footprint(t);
}

uint32_t orr_task_footprint(struct orr_task *t, unsigned nimpl)
{
	(void) nimpl;
	return cached_footprint(t->pub->cl ? t->pub->cl->model : NULL, t);
}

uint32_t starpu_task_footprint(struct starpu_perfmodel *model, struct starpu_task *task,
			       struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) arch;
	(void) nimpl;
	return orr_perf_footprint(model, task);
}

static size_t data_size(struct starpu_task *t)
{
	size_t size = 0;
	unsigned n = orr_task_nbuffers(t);
	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = orr_task_handle(t, i);
		if (h)
			size += starpu_data_get_size(h);
	}
	return size;
}

size_t orr_perf_size(struct _starpu_perfmodel_state *s, struct starpu_perfmodel *model,
		     const struct starpu_perfmodel_device *d, struct starpu_task *t, unsigned nimpl)
{
	struct orr_perf_part *part = s->parts ? orr_perf_part(s, 1, d, nimpl, 0) : NULL;
	if (part && part->pub.size_base) {
		struct starpu_perfmodel_device copy = *d;
		struct starpu_perfmodel_arch arch = { .ndevices = 1, .devices = &copy };
		return part->pub.size_base(t, &arch, nimpl);
	}
	return model->size_base ? model->size_base(t, nimpl) : data_size(t);
}

int orr_perf_row(struct starpu_perfmodel *model, struct starpu_task *t, double *row)
{
	double parameters[ORR_MODEL_MAX_COEFFS];
	if (!model->parameters || !model->combinations || model->nparameters == 0 ||
	    model->nparameters > ORR_MODEL_MAX_COEFFS ||
	    model->ncombinations + 1 > ORR_MODEL_MAX_COEFFS)
		return -EINVAL;
	model->parameters(t, parameters);
	row[0] = 1;
	for (unsigned c = 0; c < model->ncombinations; c++) {
		double product = 1;
		for (unsigned i = 0; i < model->nparameters; i++)
			product *= pow(parameters[i], model->combinations[c][i]);
		row[c + 1] = product;
	}
	return 0;
}

/* ---- from the history of other footprints, under the model's lock ---- */

static int has_time(const struct starpu_perfmodel_history_entry *e)
{
	return e->nsample && e->mean > 0;
}

/* The entry of the same size; among several the one with the nearest flops, else with most samples.
 */
static const struct starpu_perfmodel_history_entry *same_size(const struct orr_model_impl *impl,
							      size_t size, double flops)
{
	const struct starpu_perfmodel_history_entry *best = NULL;
	for (unsigned i = 0; i < impl->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = &impl->entries[i]->pub;
		if (!has_time(e) || e->size != size)
			continue;
		int better = !best;
		if (best && flops > 0 && fabs(e->flops - flops) != fabs(best->flops - flops))
			better = fabs(e->flops - flops) < fabs(best->flops - flops);
		else if (best)
			better = e->nsample > best->nsample;
		if (better)
			best = e;
	}
	return best;
}

/* Between the nearest entries below and above x (flops when known, else size), on the power law
 * through both. */
static struct orr_estimate interpolate(const struct orr_model_impl *impl, size_t size, double flops)
{
	const struct starpu_perfmodel_history_entry *lo = NULL, *hi = NULL;
	double x = flops > 0 ? flops : (double) size, xlo = 0, xhi = INFINITY;
	for (unsigned i = 0; i < impl->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = &impl->entries[i]->pub;
		double v = flops > 0 ? e->flops : (double) e->size;
		if (!has_time(e) || !(v > 0))
			continue;
		if (v <= x && v > xlo) {
			lo = e;
			xlo = v;
		}
		if (v >= x && v < xhi) {
			hi = e;
			xhi = v;
		}
	}
	if (!lo || !hi)
		return unknown;
	double w = xhi > xlo ? log(x / xlo) / log(xhi / xlo) : 0;
	struct orr_estimate r = { exp((1 - w) * log(lo->mean) + w * log(hi->mean)), 0,
				  ORR_PERF_BY_SIZE };
	r.deviation = r.us * ((1 - w) * lo->deviation / lo->mean + w * hi->deviation / hi->mean);
	if (!isfinite(r.deviation))
		r.deviation = 0; /* a mean so small that nothing compares with it */
	return r;
}

/* Speed in flop/s that an entry shows; 0 when it shows none that a unit can have. */
static double speed_of(const struct starpu_perfmodel_history_entry *e)
{
	double speed = has_time(e) && e->flops > 0 ? e->flops / e->mean * 1e6 : 0;
	return speed >= SLOWEST_FLOPS && speed <= FASTEST_FLOPS ? speed : 0;
}

/* Speed in flop/s of the entry whose flops are nearest; 0 when none tells. */
static double nearest_speed(const struct orr_model_impl *impl, double flops)
{
	double speed = 0, best = INFINITY;
	for (unsigned i = 0; i < impl->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = &impl->entries[i]->pub;
		if (speed_of(e) > 0 && fabs(log(e->flops / flops)) < best) {
			best = fabs(log(e->flops / flops));
			speed = speed_of(e);
		}
	}
	return speed;
}

/* Deviation over mean of all entries together, each with the weight of its samples: a regression
 * has no deviation of its own. */
static double relative_deviation(const struct orr_model_impl *impl)
{
	double squares = 0, weight = 0;
	for (unsigned i = 0; i < impl->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = &impl->entries[i]->pub;
		if (!has_time(e) || !(e->deviation >= 0))
			continue;
		squares += e->nsample * (e->deviation / e->mean) * (e->deviation / e->mean);
		weight += e->nsample;
	}
	return weight > 0 ? sqrt(squares / weight) : 0;
}

static struct orr_estimate from_regression(const struct starpu_perfmodel *model,
					   struct orr_model_impl *impl, size_t size,
					   const double *row)
{
	const struct starpu_perfmodel_regression_model *r = &impl->reg;
	double us = NAN, x = (double) size;
	if (model->type == STARPU_MULTIPLE_REGRESSION_BASED && row && r->multi_valid &&
	    r->ncoeff == model->ncombinations + 1) {
		us = 0;
		for (unsigned i = 0; i < r->ncoeff; i++)
			us += r->coeff[i] * row[i];
	} else if (model->type == STARPU_NL_REGRESSION_BASED && r->nl_valid && x > 0) {
		us = r->a * pow(x, r->b) + r->c;
	} else if ((model->type == STARPU_REGRESSION_BASED ||
		    model->type == STARPU_NL_REGRESSION_BASED) &&
		   r->valid && x > 0) {
		us = r->alpha * pow(x, r->beta);
	}
	if (!(us > 0) || !isfinite(us))
		return unknown;
	return (struct orr_estimate){ us, 0, ORR_PERF_CALIBRATED };
}

static void note_once(struct orr_model *m, size_t size, uint32_t footprint,
		      enum orr_perf_source source, int exact)
{
	if (source != ORR_PERF_BY_SIZE || ORR_ATOMIC_XCHG(&m->noted, 1))
		return;
	orr_info(
		"performance model %s of %s: footprint %08x was never measured; using %s (%zu bytes). Said once per model; "
		"STARPU_CALIBRATE=1 measures it",
		m->symbol, m->machine, footprint,
		exact ? "measurements of the same size"
		      : "an interpolation between the nearest sizes",
		size);
}

/* ---- the calibrated model ---- */

struct query {
	struct orr_process *proc;
	struct starpu_perfmodel *model;
	struct _starpu_perfmodel_state *s;
	const struct orr_perf_unit *u;
	struct starpu_perfmodel_device d;
	struct starpu_task *t;
	unsigned nimpl;
	int use_defaults;
	double speed; /* out: of the nearest entry, 0 when unknown */
};

/* What follows from other footprints or a fit. While calibrating, only fits count unless a duration
 * is needed at any price. */
static struct orr_estimate derive(struct query *q, int comb, uint32_t footprint)
{
	struct orr_model *m = q->s->m;
	double row[ORR_MODEL_MAX_COEFFS];
	int has_row = q->model->type == STARPU_MULTIPLE_REGRESSION_BASED &&
		      !orr_perf_row(q->model, q->t, row);
	size_t size = orr_perf_size(q->s, q->model, &q->d, q->t, q->nimpl);
	struct orr_estimate r = unknown;
	int exact = 0;
	orr_lock(&m->lock);
	struct orr_model_comb *c = m->data->combs[comb];
	struct orr_model_impl *impl = q->nimpl < c->nimpls ? &c->impls[q->nimpl] : NULL;
	if (impl) {
		orr_model_refit(impl, q->s->perf->cfg);
		r = from_regression(q->model, impl, size, has_row ? row : NULL);
		r.deviation = isnan(r.us) ? 0 : r.us * relative_deviation(impl);
		if (isnan(r.us) && (q->s->perf->cfg->calibrate == 0 || q->use_defaults)) {
			const struct starpu_perfmodel_history_entry *e = same_size(impl, size,
										   q->t->flops);
			exact = e != NULL;
			r = e ? (struct orr_estimate){ e->mean, e->deviation, ORR_PERF_BY_SIZE }
			      : interpolate(impl, size, q->t->flops);
		}
		if (isnan(r.us) && q->t->flops > 0)
			q->speed = nearest_speed(impl, q->t->flops);
		if (!isnan(r.us) && q->s->plain && !m->learning && !has_row)
			orr_model_index_put(
				m, orr_model_slot_key((unsigned) comb, q->nimpl, footprint), NULL,
				r.us, r.deviation, r.source);
	}
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

static struct orr_estimate from_model(struct query *q)
{
	struct orr_model *m = q->s->m;
	const struct orr_config *cfg = q->s->perf->cfg;
	struct orr_model_index *x = ORR_ATOMIC_LOAD(&m->index);
	int comb = x->ncombs ? orr_model_find_unit(x, (int) q->d.type, q->d.devid, q->d.ncores)
			     : -1;
	if (comb < 0)
		return unknown;
	uint32_t footprint = orr_perf_footprint(q->model, q->t);
	struct orr_model_slot *s = orr_model_lookup(
		x, orr_model_slot_key((unsigned) comb, q->nimpl, footprint));
	if (s && !s->entry && q->s->plain && !ORR_ATOMIC_LOAD(&m->learning) &&
	    (cfg->calibrate == 0 || q->use_defaults))
		return (struct orr_estimate){ s->us, s->deviation, s->source };
	int fit_first = q->model->type == STARPU_REGRESSION_BASED ||
			q->model->type == STARPU_MULTIPLE_REGRESSION_BASED;
	struct orr_estimate r = unknown, history = unknown;
	if (s && s->entry) {
		unsigned n = ORR_ATOMIC_LOAD(&s->entry->pub.nsample);
		/* While calibrating, a scheduler is told "unknown" until there are enough samples,
		 * so that it tries all units. */
		if (n && (q->use_defaults || cfg->calibrate == 0 ||
			  n >= (unsigned) cfg->calibrate_minimum))
			history = read_entry(s->entry);
		if (!(history.us > 0))
			history = unknown;
		else if (!fit_first)
			return history;
	}
	if (fit_first && !isnan(history.us)) {
		double row[ORR_MODEL_MAX_COEFFS];
		int has_row = q->model->type == STARPU_MULTIPLE_REGRESSION_BASED &&
			      !orr_perf_row(q->model, q->t, row);
		size_t size = orr_perf_size(q->s, q->model, &q->d, q->t, q->nimpl);
		orr_lock(&m->lock);
		struct orr_model_impl *impl = &m->data->combs[comb]->impls[q->nimpl];
		orr_model_refit(impl, cfg);
		r = from_regression(q->model, impl, size, has_row ? row : NULL);
		orr_unlock(&m->lock);
		r.deviation = r.us * history.deviation / history.us;
		return isnan(r.us) ? history : r;
	}
	return derive(q, comb, footprint);
}

/* ---- the program's own functions ---- */

static double relative_speed(const struct starpu_perfmodel_device *d)
{
	return d->type == STARPU_CPU_WORKER ? d->ncores : GPU_FLOPS / CPU_FLOPS / 8;
}

double starpu_worker_get_relative_speedup(struct starpu_perfmodel_arch *perf_arch)
{
	double speed = 0;
	for (int i = 0; i < perf_arch->ndevices; i++)
		speed += relative_speed(&perf_arch->devices[i]);
	return speed;
}

static unsigned worker_of(struct query *q)
{
	unsigned same = 0;
	for (unsigned i = q->proc->core->nworkers; i-- > 0;) {
		const struct orr_worker *w = &q->proc->core->workers[i];
		if (w->unit == q->u)
			return i;
		if (w->arch == q->u->type &&
		    (w->devid == q->u->devid || q->u->type == STARPU_CPU_WORKER))
			same = i;
	}
	return same;
}

static struct orr_estimate from_functions(struct query *q)
{
	struct starpu_perfmodel *model = q->model;
	struct starpu_perfmodel_device copy = q->d;
	struct starpu_perfmodel_arch arch = { .ndevices = 1, .devices = &copy };
	struct orr_perf_part *part = q->s && q->s->parts
					     ? orr_perf_part(q->s, 1, &q->d, q->nimpl, 0)
					     : NULL;
	double us = NAN;
	if (part && part->pub.cost_function)
		us = part->pub.cost_function(q->t, &arch, q->nimpl);
	else if (model->worker_cost_function &&
		 (model->type == STARPU_PER_WORKER ||
		  !(model->arch_cost_function || model->cost_function)))
		us = model->worker_cost_function(q->t, worker_of(q), q->nimpl);
	else if (model->arch_cost_function &&
		 (model->type == STARPU_PER_ARCH || !model->cost_function))
		us = model->arch_cost_function(q->t, &arch, q->nimpl);
	else if (model->cost_function)
		us = model->cost_function(q->t, q->nimpl) / relative_speed(&q->d);
	if (!(us >= 0) || !isfinite(us))
		return unknown;
	return (struct orr_estimate){ us, 0, ORR_PERF_COST_FUNCTION };
}

/* ---- all sources ---- */

static struct orr_estimate from_nothing(const struct query *q)
{
	double speed = q->t->flops > 0 ? q->speed > 0 ? q->speed : orr_perf_default_flops(q->u) : 1,
	       us = q->t->flops / speed * 1e6;
	if (us > 0 && isfinite(us))
		return (struct orr_estimate){ us, 0, ORR_PERF_FLOPS };
	return (struct orr_estimate){ DEFAULT_US + (double) data_size(q->t) / DEFAULT_BYTES_PER_US,
				      0, ORR_PERF_DEFAULT };
}

/* Until a parallel task was measured on that many cores: so much of it is taken to be sequential.
 */
#define SERIAL_FRACTION 0.05

static struct orr_estimate from_one_core(struct query *q)
{
	struct orr_perf_unit one = *q->u;
	struct orr_estimate r = unknown;
	struct query seq = *q;
	if (q->u->ncores <= 1 || !q->s || !q->s->m ||
	    (q->s->perf->cfg->calibrate && !q->use_defaults))
		return unknown;
	one.ncores = 1;
	seq.u = &one;
	seq.d = orr_perf_device(q->s->perf->cfg, &one);
	r = from_model(&seq);
	if (isnan(r.us))
		return unknown;
	return (struct orr_estimate){ r.us * (SERIAL_FRACTION +
					      (1 - SERIAL_FRACTION) / q->u->ncores),
				      0, ORR_PERF_COST_FUNCTION };
}

struct orr_estimate orr_perf_estimate(struct orr_process *proc, struct starpu_perfmodel *model,
				      const struct orr_perf_unit *u, struct starpu_task *t,
				      unsigned nimpl, int use_defaults)
{
	struct query q = { .proc = proc,
			   .model = model,
			   .u = u,
			   .t = t,
			   .nimpl = nimpl,
			   .use_defaults = use_defaults };
	struct orr_estimate r = unknown;
	if (model) {
		/* One model of the library itself serves all ranks: it can have no state. */
		q.s = model == &starpu_perfmodel_nop ? NULL : orr_perf_state(proc, model);
		q.d = orr_perf_device(q.s ? q.s->perf->cfg : &proc->cfg, u);
		if (q.s && q.s->m)
			r = from_model(&q);
		if (isnan(r.us))
			r = from_one_core(&q);
		if (isnan(r.us))
			r = from_functions(&q);
	}
	return isnan(r.us) && use_defaults ? from_nothing(&q) : r;
}

double orr_perf_expected_us(struct orr_process *proc, const struct orr_perf_unit *u,
			    struct starpu_task *t, unsigned nimpl, int use_defaults,
			    enum orr_perf_source *source)
{
	struct orr_estimate r = orr_perf_estimate(proc, t->cl ? t->cl->model : NULL, u, t, nimpl,
						  use_defaults);
	if (source)
		*source = r.source;
	return r.us;
}

double orr_perf_spread_us(struct orr_process *proc, const struct orr_perf_unit *u,
			  struct starpu_task *t, unsigned nimpl, enum orr_perf_source *source,
			  double *deviation_us)
{
	struct orr_estimate r = orr_perf_estimate(proc, t->cl ? t->cl->model : NULL, u, t, nimpl,
						  1);
	*source = r.source;
	*deviation_us = r.deviation > 0 && isfinite(r.deviation) ? r.deviation : 0;
	return r.us;
}

/* Best speed that any loaded model shows on that kind of unit. */
static double best_speed(struct orr_perf *p, enum starpu_worker_archtype type)
{
	double best = 0;
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
				best = fmax(best, speed_of(h));
			}
		}
		orr_unlock(&s->m->lock);
	}
	return best;
}

double orr_perf_default_flops(const struct orr_perf_unit *u)
{
	struct orr_perf *p = orr_self()->perf;
	int type = (int) u->type;
	double speed = type == STARPU_CPU_WORKER ? CPU_FLOPS : GPU_FLOPS;
	if (p && type >= 0 && type < STARPU_NARCH) {
		orr_lock(&p->lock);
		if (p->flops_states != p->nstates) {
			memset(p->flops, 0, sizeof(p->flops));
			p->flops_states = p->nstates;
		}
		if (p->flops[type] == 0) {
			double best = best_speed(p, u->type);
			p->flops[type] = best > 0 ? best : speed;
		}
		speed = p->flops[type];
		orr_unlock(&p->lock);
	}
	return speed * (u->ncores > 1 ? u->ncores : 1);
}
