/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements enter histories and regressions, and the measurements of several processes are put
 * together (see model_learn.h).
 *
 * Means and deviations follow from n, sum and sum of squares, so that merging is adding. Once a
 * footprint has enough samples, a sample further than STARPU_HISTORY_MAX_ERROR from the mean is
 * dropped; when more samples were dropped than kept, the machine has changed and the footprint
 * starts afresh. */
#include "perf/model_learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "perf/fit.h"
#include "perf/model_index.h"

#define MAX_ROWS 4096

static void entry_refresh(struct starpu_perfmodel_history_entry *e)
{
	double mean = e->sum / e->nsample;
	double dev = sqrt(fabs(e->sum2 / e->nsample - mean * mean));
	orr_assert(e->nsample > 0);
	/* Readers take no lock. */
	__atomic_store(&e->deviation, &dev, __ATOMIC_RELAXED);
	__atomic_store(&e->mean, &mean, __ATOMIC_RELAXED);
}

/* Adds n samples with that sum and sum of squares. Counts have 32 bits: when one is full, the older
 * samples lose half of their weight. */
static void entry_add(struct starpu_perfmodel_history_entry *e, unsigned n, double sum, double sum2)
{
	if (e->nsample == 0)
		e->sum = e->sum2 = 0; /* whatever the file holds */
	while (e->nsample > UINT32_MAX - n) {
		ORR_ATOMIC_STORE(&e->nsample, e->nsample / 2);
		e->sum /= 2;
		e->sum2 /= 2;
	}
	e->sum += sum;
	e->sum2 += sum2;
	ORR_ATOMIC_STORE(&e->nsample, e->nsample + n);
	entry_refresh(e);
}

static void entry_restart(struct orr_model_entry *e)
{
	e->pub.sum = e->pub.sum2 = 0;
	e->dsum = e->dsum2 = 0;
	e->dn = 0;
	e->pub.nerror = 0;
	e->reset = 1;
	ORR_ATOMIC_STORE(&e->pub.nsample, 0);
}

/* Returns 0 when the measurement is dropped. */
static int learn_entry(struct orr_model_entry *e, const struct orr_measurement *x,
		       const struct orr_config *cfg)
{
	unsigned n = e->pub.nsample;
	double error = n ? 100 * fabs(x->us / e->pub.mean - 1) : 0;
	if (n && n >= (unsigned) cfg->calibrate_minimum && !(error <= cfg->history_max_error)) {
		e->pub.nerror = x->number > UINT32_MAX - e->pub.nerror ? UINT32_MAX
								       : e->pub.nerror + x->number;
		if (e->pub.nerror <= n)
			return 0;
		entry_restart(e);
	}
	while (e->dn > UINT32_MAX - x->number) {
		e->dn /= 2;
		e->dsum /= 2;
		e->dsum2 /= 2;
	}
	e->dsum += x->us * x->number;
	e->dsum2 += x->us * x->us * x->number;
	e->dn += x->number;
	e->pub.size = x->size;
	if (x->flops > 0)
		e->pub.flops = x->flops;
	e->pub.duration = x->us;
	entry_add(&e->pub, x->number, x->us * x->number, x->us * x->us * x->number);
	return 1;
}

/* A regression whose count is full learns nothing more. */
static void learn_regression(struct starpu_perfmodel_regression_model *r,
			     const struct orr_measurement *x)
{
	if (x->size == 0 || x->number > UINT32_MAX - r->nsample)
		return;
	double lx = log((double) x->size), ly = log(x->us), n = x->number;
	r->sumlnx += n * lx;
	r->sumlnx2 += n * lx * lx;
	r->sumlny += n * ly;
	r->sumlnxlny += n * lx * ly;
	r->minx = r->nsample == 0 || x->size < r->minx ? x->size : r->minx;
	r->maxx = x->size > r->maxx ? x->size : r->maxx;
	r->nsample += x->number;
}

/* Keeps the newest MAX_ROWS rows. */
static int learn_row(struct orr_model_impl *i, const struct orr_measurement *x)
{
	unsigned len = x->ncols + 1;
	if (i->row_len != len) {
		free(i->rows);
		i->rows = NULL;
		i->nrows = i->rows_capacity = i->row_next = 0;
		i->row_len = len;
	}
	if (i->nrows == i->rows_capacity && i->nrows < MAX_ROWS) {
		unsigned c = i->nrows ? i->nrows * 2 : 64;
		double *v = realloc(i->rows, (size_t) c * len * sizeof(*v));
		if (!v)
			return -ENOMEM;
		i->rows = v;
		i->rows_capacity = c;
	}
	orr_assert(i->row_next < i->rows_capacity && i->nrows <= i->rows_capacity);
	double *row = i->rows + (size_t) i->row_next * len;
	memcpy(row, x->row, x->ncols * sizeof(*row));
	row[x->ncols] = x->us;
	i->row_next = (i->row_next + 1) % MAX_ROWS;
	i->nrows += i->nrows < MAX_ROWS;
	return 0;
}

int orr_model_learn(struct orr_model *m, int ndevices,
		    const struct starpu_perfmodel_device *devices, unsigned nimpl,
		    const struct orr_measurement *x, const struct orr_config *cfg)
{
	struct orr_model_comb *c = orr_model_comb_make(m->data, ndevices, devices);
	struct orr_model_impl *impl = c ? orr_model_impl_make(c, nimpl) : NULL;
	if (!impl || orr_model_index_combs(m))
		return -ENOMEM;
	unsigned comb = 0;
	while (m->data->combs[comb] != c)
		comb++;
	uint64_t key = orr_model_index_key(comb, nimpl, x->footprint);
	struct orr_model_slot *s = orr_model_index_lookup(m->index, key);
	struct orr_model_entry *e = s ? s->entry : NULL;
	if (!e)
		e = orr_model_entry_append(impl, x->footprint);
	if (!e)
		return -ENOMEM;
	orr_assert(x->us > 0 && isfinite(x->us) && x->number > 0);
	ORR_ATOMIC_STORE(&m->learning, 1);
	m->dirty = 1;
	if (learn_entry(e, x, cfg)) {
		impl->fits |= x->fits;
		if (x->fits)
			learn_regression(&impl->reg, x);
		if (x->row && learn_row(impl, x))
			return -ENOMEM;
		impl->stale++;
	}
	return s && s->entry ? 0 : orr_model_index_put(m, key, e, 0, 0, ORR_PERF_CALIBRATED);
}

/* ---- fits ---- */

/* Can it be written to a file and read again? */
static int storable(double v)
{
	return fabs(v) <= ORR_MODEL_MAX_NUMBER;
}

static void refit_power(struct starpu_perfmodel_regression_model *r, unsigned minimum)
{
	r->valid = r->nsample >= minimum &&
		   !orr_fit_power(r->nsample, r->sumlnx, r->sumlnx2, r->sumlny, r->sumlnxlny,
				  &r->alpha, &r->beta);
	if (!r->valid || !storable(r->alpha) || !storable(r->beta)) {
		r->valid = 0;
		r->alpha = r->beta = NAN;
	}
}

/* This many points determine the law well enough. Fitting computes some thousand powers for each.
 */
#define MAX_POINTS 1024

static void refit_offset(struct orr_model_impl *i, unsigned minimum)
{
	double *v = malloc(3 * MAX_POINTS * sizeof(*v));
	unsigned n = 0, step = 1 + i->nentries / MAX_POINTS;
	double samples = 0;
	if (!v)
		return;
	double *x = v, *y = v + MAX_POINTS, *w = y + MAX_POINTS;
	for (unsigned e = 0; e < i->nentries; e += step) {
		const struct starpu_perfmodel_history_entry *p = &i->entries[e]->pub;
		if (p->nsample && p->size && p->mean > 0) {
			x[n] = (double) p->size;
			y[n] = p->mean;
			w[n++] = p->nsample;
			samples += p->nsample;
		}
	}
	i->reg.nl_valid = samples >= minimum &&
			  !orr_fit_offset(n, x, y, w, &i->reg.a, &i->reg.b, &i->reg.c);
	if (!i->reg.nl_valid || !storable(i->reg.a) || !storable(i->reg.b) || !storable(i->reg.c)) {
		i->reg.nl_valid = 0;
		i->reg.a = i->reg.b = i->reg.c = NAN;
	}
	free(v);
}

/* A run that measured too little keeps the coefficients of the file. */
static void refit_multi(struct orr_model_impl *i)
{
	unsigned cols = i->row_len ? i->row_len - 1 : 0;
	if (cols == 0 || i->nrows < cols + 2)
		return;
	double *x = malloc((size_t) i->nrows * i->row_len * sizeof(*x)),
	       *coeff = malloc(cols * sizeof(*coeff));
	double *y = x ? x + (size_t) i->nrows * cols : NULL;
	for (unsigned r = 0; x && r < i->nrows; r++) {
		memcpy(x + (size_t) r * cols, i->rows + (size_t) r * i->row_len, cols * sizeof(*x));
		y[r] = i->rows[(size_t) r * i->row_len + cols];
	}
	int fits = x && coeff && !orr_fit_linear(i->nrows, cols, x, y, coeff);
	for (unsigned c = 0; fits && c < cols; c++)
		fits = storable(coeff[c]);
	if (fits) {
		free(i->reg.coeff);
		i->reg.coeff = coeff;
		i->reg.ncoeff = cols;
		i->reg.multi_valid = 1;
		coeff = NULL;
	}
	free(coeff);
	free(x);
}

/* A fit takes milliseconds, so it waits until the measurements have grown by an eighth. */
void orr_model_refit(struct orr_model_impl *impl, const struct orr_config *cfg)
{
	if (impl->stale <= impl->fitted / 8)
		return;
	impl->fitted += impl->stale;
	impl->stale = 0;
	if (impl->fits & (ORR_FIT_POWER | ORR_FIT_OFFSET))
		refit_power(&impl->reg, (unsigned) cfg->calibrate_minimum);
	if (impl->fits & ORR_FIT_OFFSET)
		refit_offset(impl, (unsigned) cfg->calibrate_minimum);
	if (impl->fits & ORR_FIT_MULTI)
		refit_multi(impl);
}

/* ---- merging ---- */

static int merge_entry(struct orr_model_impl *to, const struct orr_model_entry *from)
{
	if (from->dn == 0)
		return 0;
	struct orr_model_entry *e = orr_model_entry_make(to, from->pub.footprint);
	if (!e)
		return -ENOMEM;
	if (from->reset)
		entry_restart(e);
	e->pub.size = from->pub.size;
	if (from->pub.flops > 0)
		e->pub.flops = from->pub.flops;
	entry_add(&e->pub, from->dn, from->dsum, from->dsum2);
	return 0;
}

static void merge_regression(struct orr_model_impl *to, const struct orr_model_impl *from)
{
	struct starpu_perfmodel_regression_model *t = &to->reg;
	const struct starpu_perfmodel_regression_model *f = &from->reg, *b = &from->base;
	orr_assert(f->nsample >= b->nsample);
	unsigned added = f->nsample - b->nsample;
	if (added > UINT32_MAX - t->nsample)
		return;
	t->sumlnx += f->sumlnx - b->sumlnx;
	t->sumlnx2 += f->sumlnx2 - b->sumlnx2;
	t->sumlny += f->sumlny - b->sumlny;
	t->sumlnxlny += f->sumlnxlny - b->sumlnxlny;
	if (added) {
		t->minx = t->nsample == 0 || f->minx < t->minx ? f->minx : t->minx;
		t->maxx = f->maxx > t->maxx ? f->maxx : t->maxx;
	}
	t->nsample += added;
}

/* Coefficients of a multiple regression do not add up: the newest stand. */
static int merge_coefficients(struct orr_model_impl *to, const struct orr_model_impl *from)
{
	struct starpu_perfmodel_regression_model *t = &to->reg;
	const struct starpu_perfmodel_regression_model *f = &from->reg;
	if (!from->nrows || !f->ncoeff)
		return 0;
	double *c = malloc(f->ncoeff * sizeof(*c));
	if (!c)
		return -ENOMEM;
	memcpy(c, f->coeff, f->ncoeff * sizeof(*c));
	free(t->coeff);
	t->coeff = c;
	t->ncoeff = f->ncoeff;
	t->multi_valid = f->multi_valid;
	return 0;
}

int orr_model_merge(struct orr_model_data *file, struct orr_model_data *mine)
{
	/* The merged sums are fitted whatever their number: the reader decides whether to trust
	 * the fit. */
	const struct orr_config any = { .calibrate_minimum = 2 };
	for (unsigned c = 0; c < mine->ncombs; c++) {
		struct orr_model_comb *from = mine->combs[c];
		struct orr_model_comb *to = orr_model_comb_make(file, from->ndevices,
								from->devices);
		if (!to)
			return -ENOMEM;
		for (unsigned i = 0; i < from->nimpls; i++) {
			struct orr_model_impl *fi = &from->impls[i],
					      *ti = orr_model_impl_make(to, i);
			if (!ti)
				return -ENOMEM;
			if (fi->fits & ORR_FIT_MULTI) {
				fi->fitted = 0; /* include the last measurements */
				orr_model_refit(fi, &any);
			}
			merge_regression(ti, fi);
			if (merge_coefficients(ti, fi))
				return -ENOMEM;
			for (unsigned e = 0; e < fi->nentries; e++) {
				if (merge_entry(ti, fi->entries[e]))
					return -ENOMEM;
			}
			ti->fits = fi->fits;
			ti->stale = 1; /* it was just read, and nothing has been fitted */
			orr_model_refit(ti, &any);
		}
	}
	return 0;
}

void orr_model_settle(struct orr_model_data *mine)
{
	for (unsigned c = 0; c < mine->ncombs; c++) {
		for (unsigned i = 0; i < mine->combs[c]->nimpls; i++) {
			struct orr_model_impl *impl = &mine->combs[c]->impls[i];
			impl->base = impl->reg;
			impl->base.coeff = NULL;
			for (unsigned e = 0; e < impl->nentries; e++) {
				struct orr_model_entry *x = impl->entries[e];
				x->dn = 0;
				x->dsum = x->dsum2 = 0;
				x->reset = 0;
			}
		}
	}
}
