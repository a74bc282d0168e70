/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arithmetic of contention (see contention.h).
 *
 * Invariant: as in the header; nothing here divides by an excess of 0. */
#include "base/contention.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static const struct orr_contention_point alone = { .company = 1, .slowdown = 1 };

/* The point at place i, where alone is at place -1. */
static const struct orr_contention_point *point(const struct orr_contention_curve *c, int i)
{
	return i < 0 ? &alone : &c->point[i];
}

static double slope(const struct orr_contention_point *a, const struct orr_contention_point *b)
{
	return (b->slowdown - a->slowdown) / (b->company - a->company);
}

double orr_contention_slowdown(const struct orr_contention_curve *c, double pressure)
{
	double company = 1 + pressure;
	int n = (int) c->npoints, i = 0;

	orr_assert(n > 0 && pressure >= 0);
	while (i < n && c->point[i].company < company)
		i++;
	const struct orr_contention_point *a = point(c, i - 1);
	if (i < n)
		return a->slowdown + slope(a, &c->point[i]) * (company - a->company);
	double steepest = a->slowdown / a->company;
	return a->slowdown + fmin(slope(point(c, n - 2), a), steepest) * (company - a->company);
}

unsigned orr_contention_measured(const struct orr_contention_curve *c)
{
	return c->point[c->npoints - 1].company;
}

double orr_contention_press(const struct orr_contention_curve *on,
			    const struct orr_contention_curve *by)
{
	unsigned a = orr_contention_measured(on), b = orr_contention_measured(by);
	double pressure = (a > b ? a : b) - 1;
	double feels = orr_contention_slowdown(on, pressure) - 1;

	if (on == by)
		return 1;
	return feels > 0 ? sqrt((orr_contention_slowdown(by, pressure) - 1) / feels) : 0;
}

int orr_contention_complete(struct orr_contention *t)
{
	unsigned n = t->ncurves;

	t->press = calloc((size_t) n * n + 1, sizeof(*t->press));
	if (!t->press)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++)
			t->press[i * n + j] = orr_contention_press(&t->curve[i], &t->curve[j]);
	return 0;
}

int orr_contention_find(const struct orr_contention *t, const char *name)
{
	for (unsigned i = 0; i < t->ncurves; i++)
		if (!strcmp(t->curve[i].name, name))
			return (int) i;
	return -1;
}

static int same_curve(const struct orr_contention_curve *a, const struct orr_contention_curve *b)
{
	if (strcmp(a->name, b->name) || a->npoints != b->npoints)
		return 0;
	for (unsigned i = 0; i < a->npoints; i++)
		if (a->point[i].company != b->point[i].company ||
		    a->point[i].slowdown != b->point[i].slowdown)
			return 0;
	return 1;
}

int orr_contention_same(const struct orr_contention *a, const struct orr_contention *b)
{
	if (a == b)
		return 1;
	if (!a || !b || a->ncurves != b->ncurves)
		return 0;
	for (unsigned i = 0; i < a->ncurves; i++)
		if (!same_curve(&a->curve[i], &b->curve[i]))
			return 0;
	return 1;
}

void orr_contention_free(struct orr_contention *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->ncurves; i++) {
		free(t->curve[i].name);
		free(t->curve[i].point);
	}
	free(t->curve);
	free(t->press);
	free(t);
}
