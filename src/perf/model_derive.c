/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates from other footprints and from fits (see model_derive.h). */
#include "perf/model_derive.h"

#include "perf/fit.h"

/* Speeds beyond which no worker is. */
#define SLOWEST_FLOPS 1.0
#define FASTEST_FLOPS 1e21

static int has_time(const struct starpu_perfmodel_history_entry *e)
{
	return e->nsample && e->mean > 0;
}

/* The entry of the same size that suits best, or NULL. */
static const struct starpu_perfmodel_history_entry *nearest_entry(const struct orr_model_impl *impl,
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

struct orr_estimate orr_model_derive_same_size(const struct orr_model_impl *impl, size_t size,
					       double flops)
{
	const struct starpu_perfmodel_history_entry *e = nearest_entry(impl, size, flops);

	return e ? (struct orr_estimate){ e->mean, e->deviation, ORR_PERF_BY_SIZE }
		 : ORR_ESTIMATE_UNKNOWN;
}

struct orr_estimate orr_model_derive_between(const struct orr_model_impl *impl, size_t size,
					     double flops)
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
		return ORR_ESTIMATE_UNKNOWN;
	double w = xhi > xlo ? log(x / xlo) / log(xhi / xlo) : 0;
	struct orr_estimate r = { exp((1 - w) * log(lo->mean) + w * log(hi->mean)), 0,
				  ORR_PERF_BY_SIZE };
	r.deviation = r.us * ((1 - w) * lo->deviation / lo->mean + w * hi->deviation / hi->mean);
	if (!isfinite(r.deviation))
		r.deviation = 0; /* the mean is too small to divide by */
	return r;
}

/* Points of a curve, at most so many of an implementation's entries. */
#define POINTS 256

struct curve {
	unsigned n, sizes; /* points, and how many different sizes they have: up to 3 */
	double x[POINTS], y[POINTS], one[POINTS];
};

static void curve_take(struct curve *v, const struct orr_model_impl *impl)
{
	unsigned step = impl->nentries / POINTS + 1;
	v->n = v->sizes = 0;
	for (unsigned i = 0; i < impl->nentries; i += step) {
		const struct starpu_perfmodel_history_entry *e = &impl->entries[i]->pub;
		double x = (double) e->size;
		unsigned j = 0;
		if (!has_time(e) || !(x > 0))
			continue;
		while (j < v->n && v->x[j] != x)
			j++;
		v->sizes += j == v->n && v->sizes < 3;
		v->x[v->n] = x;
		v->y[v->n] = e->mean;
		v->one[v->n++] = 1;
	}
}

/* a x^b + c; in proportion to x if no curve goes through the points. */
static void curve_fit(const struct curve *v, double *a, double *b, double *c)
{
	double lnx = 0, lnx2 = 0, lny = 0, lnxlny = 0;
	*a = *b = 1;
	*c = 0;
	if (v->sizes > 2 && !orr_fit_offset(v->n, v->x, v->y, v->one, a, b, c))
		return;
	for (unsigned i = 0; i < v->n; i++) {
		lnx += log(v->x[i]);
		lnx2 += log(v->x[i]) * log(v->x[i]);
		lny += log(v->y[i]);
		lnxlny += log(v->x[i]) * log(v->y[i]);
	}
	if (v->sizes < 2 || orr_fit_power(v->n, lnx, lnx2, lny, lnxlny, a, b) || *b < 0)
		*a = *b = 1;
}

struct orr_estimate orr_model_derive_beyond(const struct orr_model_impl *impl, size_t size)
{
	const struct starpu_perfmodel_history_entry *end = NULL;
	double x = (double) size, a, b, c;
	struct curve v;
	int above = 0, below = 0;
	for (unsigned i = 0; i < impl->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = &impl->entries[i]->pub;
		if (!has_time(e) || !e->size)
			continue;
		above |= e->size >= size;
		below |= e->size <= size;
		if (!end || (below ? e->size > end->size : e->size < end->size))
			end = e;
	}
	if (!end || !size || (above && below))
		return ORR_ESTIMATE_UNKNOWN;
	curve_take(&v, impl);
	curve_fit(&v, &a, &b, &c);
	double by = (a * pow(x, b) + c) / (a * pow((double) end->size, b) + c);
	struct orr_estimate r = { end->mean * by, end->deviation * by, ORR_PERF_FLOPS };
	if (!(r.us >= ORR_MODEL_LEAST_MEAN) || !(r.us <= ORR_MODEL_MOST_MEAN))
		return ORR_ESTIMATE_UNKNOWN;
	r.deviation = isfinite(r.deviation) ? r.deviation : 0;
	return r;
}

double orr_model_derive_speed(const struct starpu_perfmodel_history_entry *e)
{
	double speed = has_time(e) && e->flops > 0 ? e->flops / e->mean * 1e6 : 0;
	return speed >= SLOWEST_FLOPS && speed <= FASTEST_FLOPS ? speed : 0;
}

double orr_model_derive_nearest_speed(const struct orr_model_impl *impl, double flops)
{
	double speed = 0, best = INFINITY;
	for (unsigned i = 0; i < impl->nentries; i++) {
		const struct starpu_perfmodel_history_entry *e = &impl->entries[i]->pub;
		if (orr_model_derive_speed(e) > 0 && fabs(log(e->flops / flops)) < best) {
			best = fabs(log(e->flops / flops));
			speed = orr_model_derive_speed(e);
		}
	}
	return speed;
}

double orr_model_derive_deviation(const struct orr_model_impl *impl)
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

struct orr_estimate orr_model_derive_fit(const struct starpu_perfmodel *model,
					 const struct orr_model_impl *impl, size_t size,
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
	if (!(us >= ORR_MODEL_LEAST_MEAN) || !(us <= ORR_MODEL_MOST_MEAN))
		return ORR_ESTIMATE_UNKNOWN;
	return (struct orr_estimate){ us, 0, ORR_PERF_CALIBRATED };
}
