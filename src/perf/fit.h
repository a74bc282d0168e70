/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fits of execution times. Pure functions of their arguments. Invariant: outputs are written on
 * success only, and are finite. */
#ifndef ORR_PERF_FIT_H
#define ORR_PERF_FIT_H

/* y = alpha * x^beta by least squares of the logarithms, from their sums over n points. 0, or -EDOM
 * when the points do not tell (fewer than two different x). */
int orr_fit_power(unsigned n, double sumlnx, double sumlnx2, double sumlny, double sumlnxlny,
		  double *alpha, double *beta);
/* y = a * x^b + c with a, c >= 0 from n points of positive x, y and weight, minimising the weighted
 * squares of relative errors. 0, or -EDOM with fewer than three different x, or -ENOMEM. */
int orr_fit_offset(unsigned n, const double *x, const double *y, const double *weight, double *a,
		   double *b, double *c);
/* Least squares of X * coeff = y by Householder reflections; X has `rows` rows of `cols` numbers
 * and is destroyed, as y is. 0, or -EDOM when the columns are dependent or there are fewer rows
 * than columns. */
int orr_fit_linear(unsigned rows, unsigned cols, double *x, double *y, double *coeff);

#endif
