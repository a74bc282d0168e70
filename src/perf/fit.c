/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fits of execution times (see fit.h).
 *
 * Invariant: the same points give the same result in every run; nothing is random, and the number
 * of iterations is fixed. */
#include "perf/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int orr_fit_power(unsigned n, double sumlnx, double sumlnx2, double sumlny, double sumlnxlny,
		  double *alpha, double *beta)
{
	if (n < 2)
		return -EDOM;
	double den = n * sumlnx2 - sumlnx * sumlnx;
	/* Rounding leaves a little when all x are the same. */
	if (!(den > 1e-9 * (double) n * sumlnx2))
		return -EDOM;
	double b = (n * sumlnxlny - sumlnx * sumlny) / den;
	double a = exp((sumlny - b * sumlnx) / n);
	if (!isfinite(a) || !isfinite(b) || a <= 0)
		return -EDOM;
	*alpha = a;
	*beta = b;
	return 0;
}

struct offset_fit {
	unsigned n;
	const double *x, *y, *w;
	double a, b, error;
};

/* Least squares over a for fixed b and c: y ~ a x^b + c with weights w / y^2. */
static double fit_scale(struct offset_fit *f, double b, double c)
{
	double num = 0, den = 0, error = 0;
	for (unsigned i = 0; i < f->n; i++) {
		double p = pow(f->x[i], b) / f->y[i], r = (f->y[i] - c) / f->y[i];
		num += f->w[i] * p * r;
		den += f->w[i] * p * p;
	}
	double a = den > 0 ? num / den : 0;
	if (!(a > 0) || !isfinite(a))
		a = 0;
	for (unsigned i = 0; i < f->n; i++) {
		double e = (a * pow(f->x[i], b) + c) / f->y[i] - 1;
		error += f->w[i] * e * e;
	}
	f->a = a;
	f->b = b;
	f->error = isfinite(error) ? error : INFINITY;
	return f->error;
}

/* Smallest of f over [lo, hi]: a grid, then golden sections around the best point of it. */
static double minimise(double (*fn)(struct offset_fit *, double, double), struct offset_fit *f,
		       double c, double lo, double hi)
{
	enum { GRID = 16, STEPS = 24 };
	const double g = 0.6180339887498949;
	double best = lo, best_e = INFINITY, step = (hi - lo) / GRID;
	for (int i = 0; i <= GRID; i++) {
		double v = lo + i * step, e = fn(f, v, c);
		if (e < best_e) {
			best_e = e;
			best = v;
		}
	}
	double l = fmax(lo, best - step), r = fmin(hi, best + step);
	for (int i = 0; i < STEPS; i++) {
		double m1 = r - g * (r - l), m2 = l + g * (r - l);
		if (fn(f, m1, c) <= fn(f, m2, c))
			r = m2;
		else
			l = m1;
	}
	return (l + r) / 2;
}

/* Error of the best a and b for this c; b in [0, 4]. */
static double fit_given_c(struct offset_fit *f, double c, double unused)
{
	(void) unused;
	return fit_scale(f, minimise(fit_scale, f, c, 0.05, 4), c);
}

int orr_fit_offset(unsigned n, const double *x, const double *y, const double *weight, double *a,
		   double *b, double *c)
{
	unsigned different = 0;
	double ymin = INFINITY, xmax = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned j = 0;
		while (j < i && different < 3 && x[j] != x[i])
			j++;
		different += j == i && different < 3;
		ymin = fmin(ymin, y[i]);
		xmax = fmax(xmax, x[i]);
	}
	if (different < 3 || !(ymin > 0) || !(xmax > 0))
		return -EDOM;
	/* In units of the largest x, so that powers neither overflow nor vanish. */
	double *scaled = malloc(n * sizeof(*scaled));
	if (!scaled)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		scaled[i] = x[i] / xmax;
	struct offset_fit f = { .n = n, .x = scaled, .y = y, .w = weight };
	double best = minimise(fit_given_c, &f, 0, 0, ymin);
	double with = fit_given_c(&f, best, 0), fa = f.a, fb = f.b;
	if (fit_given_c(&f, 0, 0) <= with) {
		best = 0;
		fa = f.a;
		fb = f.b;
	}
	free(scaled);
	fa /= pow(xmax, fb);
	if (!(fa > 0) || !isfinite(fa) || !isfinite(fb))
		return -EDOM;
	*a = fa;
	*b = fb;
	*c = best;
	return 0;
}

/* Applies to y and to the columns from k on the reflection that zeroes column k below the diagonal.
 * Returns the new diagonal element. */
static double reflect(unsigned rows, unsigned cols, double *x, double *y, unsigned k)
{
	double norm = 0;
	for (unsigned i = k; i < rows; i++)
		norm = hypot(norm, x[i * cols + k]);
	if (norm == 0)
		return 0;
	double diag = x[k * cols + k] > 0 ? -norm : norm;
	x[k * cols + k] -= diag;
	double vv = 0;
	for (unsigned i = k; i < rows; i++)
		vv += x[i * cols + k] * x[i * cols + k];
	for (unsigned j = k + 1; j <= cols; j++) {
		double dot = 0;
		for (unsigned i = k; i < rows; i++)
			dot += x[i * cols + k] * (j < cols ? x[i * cols + j] : y[i]);
		for (unsigned i = k; i < rows; i++) {
			double d = 2 * dot / vv * x[i * cols + k];
			if (j < cols)
				x[i * cols + j] -= d;
			else
				y[i] -= d;
		}
	}
	return diag;
}

int orr_fit_linear(unsigned rows, unsigned cols, double *x, double *y, double *coeff)
{
	if (rows < cols || cols == 0)
		return -EDOM;
	double *diag = malloc(2 * cols * sizeof(*diag)), *scale = diag + cols;
	if (!diag)
		return -ENOMEM;
	int err = 0;
	/* Columns of very different magnitude (a constant beside n^3) are brought to length one
	 * first. */
	for (unsigned j = 0; j < cols; j++) {
		scale[j] = 0;
		for (unsigned i = 0; i < rows; i++)
			scale[j] = hypot(scale[j], x[i * cols + j]);
		if (!(scale[j] > 0) || !isfinite(scale[j]))
			err = -EDOM;
		for (unsigned i = 0; !err && i < rows; i++)
			x[i * cols + j] /= scale[j];
	}
	for (unsigned k = 0; !err && k < cols; k++) {
		diag[k] = reflect(rows, cols, x, y, k);
		if (fabs(diag[k]) < 1e-10)
			err = -EDOM;
	}
	/* Back substitution; y holds the solution as it goes. */
	for (unsigned k = cols; !err && k-- > 0;) {
		double s = y[k];
		for (unsigned j = k + 1; j < cols; j++)
			s -= x[k * cols + j] * y[j];
		y[k] = s / diag[k];
		if (!isfinite(y[k] / scale[k]))
			err = -EDOM;
	}
	for (unsigned k = 0; !err && k < cols; k++)
		coeff[k] = y[k] / scale[k];
	free(diag);
	return err;
}
