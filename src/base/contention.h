/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contention: how kernels on the cores of one computer slow each other down, as they share its
 * caches and its memory.
 *
 * The company of a kernel is the number of kernels that run at once, itself included. Its curve is
 * its slowdown, the time in company over the time alone, in company of its own kind.
 *
 *   Alone, in company 1, the slowdown is 1.
 *   Between two measurements the curve is a straight line.
 *   Beyond the last one it goes on as between the last two, but no steeper than the line from
 *   nothing through the last one, where company is all that counts. That is a guess.
 *
 * Other kinds press more or less than a kernel's own. The excess of a kind, its slowdown minus 1,
 * is what one of them does to others, times how much others do to it. Both come from its use of the
 * memory and are assumed to be alike: each is the square root of the excess. So one kernel of kind
 * B presses on kind A as sqrt(excess of B / excess of A) kernels of kind A do, both in the largest
 * company in which either was measured. The slowdown of a kernel is that which its curve has at the
 * sum of the pressures of those beside it. A kind that is never slowed down feels no pressure and
 * causes none, and the same is assumed of a kind without a curve.
 *
 * Invariant: a slowdown is at least 1, is 1 alone, and does not fall when company grows; one kernel
 * presses with 1 on another one of its kind. */
#ifndef ORR_BASE_CONTENTION_H
#define ORR_BASE_CONTENTION_H

/* The believable: of companies, which are whole numbers from 2 on, and of slowdowns. */
#define ORR_CONTENTION_MOST_COMPANY 65536
#define ORR_CONTENTION_MOST_SLOWDOWN 1e4
/* Of a description. */
#define ORR_CONTENTION_MOST_CURVES 256
#define ORR_CONTENTION_MOST_POINTS 64

struct orr_contention_point {
	unsigned company;
	double slowdown;
};

/* Points by rising company, at least one, with slowdowns that do not fall. */
struct orr_contention_curve {
	char *name; /* of the performance model, or of the codelet */
	unsigned npoints;
	struct orr_contention_point *point;
};

struct orr_contention {
	unsigned ncurves;
	struct orr_contention_curve *curve;
	/* Set by orr_contention_complete(): the pressure of one kernel of kind j on one of kind i,
	 * [i * ncurves + j]. */
	double *press;
};

/* The slowdown under that pressure, 0 or more: that of so many kernels of the same kind beside it.
 */
double orr_contention_slowdown(const struct orr_contention_curve *c, double pressure);
/* The largest company that was measured. */
unsigned orr_contention_measured(const struct orr_contention_curve *c);
/* The pressure of one kernel on another one. */
double orr_contention_press(const struct orr_contention_curve *on,
			    const struct orr_contention_curve *by);

/* Makes the pressures of a description whose curves are given. 0 or -ENOMEM. */
int orr_contention_complete(struct orr_contention *t);
/* The number of the curve of that name; -1: none. */
int orr_contention_find(const struct orr_contention *t, const char *name);
/* True if both say the same; NULL says nothing. */
int orr_contention_same(const struct orr_contention *a, const struct orr_contention *b);
void orr_contention_free(struct orr_contention *t);

#endif
