/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What list-scheduling theory says of a graph of tasks: the makespans of greedy schedules on units
 * of several kinds, computed from the tasks' times and dependencies alone, without runtime,
 * transfers or overheads. Tests compare policies with them.
 *
 *      LS_EAGER        a unit that is free takes the task that has been ready for longest
 *      LS_EFT          a task that becomes ready goes to the unit where it would end first
 *                      (earliest finish time), first come first served
 *      LS_EFT_PRIO     and units take the most urgent first (what HEFT does, without its
 *                      insertion)
 *
 * Who comes first among equals is drawn by lot: it can decide over much (anomalies of list
 * scheduling), so take the range over seeds.
 *
 * Invariant: a schedule respects dependencies and never leaves a unit idle while it has tasks. */
#ifndef LIST_SCHEDULE_H
#define LIST_SCHEDULE_H

#include "core_test.h"

#include <string.h>

#define LS_TASKS 4096
#define LS_DATA 1024
#define LS_UNITS 64
#define LS_KINDS 8

enum ls_policy { LS_EAGER, LS_EFT, LS_EFT_PRIO };

struct ls_task {
	double us[LS_KINDS];
	int prio, npred, nsucc, *succ, left, queued; /* queued: order in which it became ready */
};

struct ls {
	int ntasks, nunits, kind[LS_UNITS];
	int ahead[LS_UNITS]; /* takes a task while another runs, to fetch its data */
	struct ls_task task[LS_TASKS];
	struct {
		int writer, nreaders, reader[LS_DATA];
	} datum[LS_DATA];
	/* a run */
	unsigned seed;
	int ready[LS_TASKS], nready, unit_of[LS_TASKS], order;
	int running[LS_UNITS], next[LS_UNITS];
	double end[LS_UNITS], load[LS_UNITS];
};

static inline struct ls *ls_new(void)
{
	struct ls *l = calloc(1, sizeof(*l));
	int i;

	CHECK(l);
	for (i = 0; i < LS_DATA; i++)
		l->datum[i].writer = -1;
	return l;
}

static inline void ls_free(struct ls *l)
{
	int i;

	for (i = 0; i < l->ntasks; i++)
		free(l->task[i].succ);
	free(l);
}

static inline void ls_unit(struct ls *l, int kind, int ahead)
{
	CHECK(l->nunits < LS_UNITS && kind < LS_KINDS);
	l->kind[l->nunits] = kind;
	l->ahead[l->nunits++] = ahead;
}

static inline int ls_task(struct ls *l, int prio)
{
	CHECK(l->ntasks < LS_TASKS);
	l->task[l->ntasks].prio = prio;
	return l->ntasks++;
}

static inline void ls_edge(struct ls *l, int from, int to)
{
	struct ls_task *t;

	if (from < 0 || from == to)
		return;
	t = &l->task[from];
	t->succ = realloc(t->succ, (size_t) (t->nsucc + 1) * sizeof(*t->succ));
	CHECK(t->succ);
	t->succ[t->nsucc++] = to;
	l->task[to].npred++;
}

/* The accesses of a task, in the order of submission. */
static inline void ls_access(struct ls *l, int task, int datum, int write)
{
	int i;

	CHECK(datum < LS_DATA);
	ls_edge(l, l->datum[datum].writer, task);
	if (!write) {
		CHECK(l->datum[datum].nreaders < LS_DATA);
		l->datum[datum].reader[l->datum[datum].nreaders++] = task;
		return;
	}
	for (i = 0; i < l->datum[datum].nreaders; i++)
		ls_edge(l, l->datum[datum].reader[i], task);
	l->datum[datum].nreaders = 0;
	l->datum[datum].writer = task;
}

/* ---- a run ---- */

static inline unsigned ls_lot(struct ls *l, unsigned n)
{
	l->seed = l->seed * 1103515245u + 12345u;
	return (l->seed >> 16) % n;
}

static inline double ls_us(const struct ls *l, int unit, int task)
{
	return l->task[task].us[l->kind[unit]];
}

static inline void ls_ready(struct ls *l, enum ls_policy p, int task, double now)
{
	double best = 0;
	int u, where = -1;

	l->task[task].queued = l->order++;
	l->ready[l->nready++] = task;
	for (u = 0; u < l->nunits && p != LS_EAGER; u++) {
		double end = (l->running[u] >= 0 ? l->end[u] : now) + l->load[u] +
			     ls_us(l, u, task);

		if (where >= 0 && end >= best)
			continue;
		where = u;
		best = end;
	}
	l->unit_of[task] = where;
	if (where >= 0)
		l->load[where] += ls_us(l, where, task);
}

static inline int ls_take(struct ls *l, enum ls_policy p, int unit)
{
	int i, best = -1, task;

	for (i = 0; i < l->nready; i++) {
		const struct ls_task *t = &l->task[l->ready[i]],
				     *b = best >= 0 ? &l->task[l->ready[best]] : NULL;

		if (p != LS_EAGER && l->unit_of[l->ready[i]] != unit)
			continue;
		if (!b || (p == LS_EFT_PRIO && t->prio > b->prio) ||
		    ((p != LS_EFT_PRIO || t->prio == b->prio) && t->queued < b->queued))
			best = i;
	}
	if (best < 0)
		return -1;
	task = l->ready[best];
	l->ready[best] = l->ready[--l->nready];
	return task;
}

static inline void ls_start(struct ls *l, enum ls_policy p, int unit, int task, double now)
{
	l->running[unit] = task;
	l->end[unit] = now + ls_us(l, unit, task);
	if (p != LS_EAGER)
		l->load[unit] -= ls_us(l, unit, task);
}

/* Gives out tasks until no unit takes any. */
static inline void ls_fill(struct ls *l, enum ls_policy p, double now)
{
	int taken, i;

	do {
		int first = l->seed ? (int) ls_lot(l, (unsigned) l->nunits) : 0;

		taken = 0;
		for (i = 0; i < l->nunits; i++) {
			int u = (first + i) % l->nunits, task;

			if (l->running[u] >= 0 && !(l->ahead[u] && l->next[u] < 0))
				continue;
			task = ls_take(l, p, u);
			if (task < 0)
				continue;
			if (l->running[u] >= 0)
				l->next[u] = task;
			else
				ls_start(l, p, u, task, now);
			taken = 1;
		}
	} while (taken);
}

static inline void ls_over(struct ls *l, enum ls_policy p, int unit, double now)
{
	struct ls_task *t = &l->task[l->running[unit]];
	int i, first = t->nsucc && l->seed ? (int) ls_lot(l, (unsigned) t->nsucc) : 0;

	l->running[unit] = -1;
	for (i = 0; i < t->nsucc; i++) {
		int s = t->succ[(first + i) % t->nsucc];

		if (--l->task[s].left == 0)
			ls_ready(l, p, s, now);
	}
	if (l->next[unit] >= 0)
		ls_start(l, p, unit, l->next[unit], now);
	l->next[unit] = -1;
}

/* The makespan in microseconds. seed 0: the first unit and the first successor always come first.
 */
static inline double ls_makespan(struct ls *l, enum ls_policy p, unsigned seed)
{
	double now = 0;
	int i, done = 0;

	l->seed = seed;
	l->nready = l->order = 0;
	for (i = 0; i < l->nunits; i++) {
		l->running[i] = l->next[i] = -1;
		l->load[i] = 0;
	}
	for (i = 0; i < l->ntasks; i++)
		l->task[i].left = l->task[i].npred;
	for (i = 0; i < l->ntasks; i++)
		if (!l->task[i].npred)
			ls_ready(l, p, i, 0);
	for (;;) {
		int u, over = -1;

		ls_fill(l, p, now);
		for (u = 0; u < l->nunits; u++)
			if (l->running[u] >= 0 && (over < 0 || l->end[u] < l->end[over]))
				over = u;
		if (over < 0)
			break;
		now = l->end[over];
		ls_over(l, p, over, now);
		done++;
	}
	CHECK_IS(done, l->ntasks);
	return now;
}

/* ---- the tiled Cholesky factorization, which several tests use ---- */

enum { LS_POTRF, LS_TRSM, LS_SYRK, LS_GEMM };

/* Calls insert(arg, kind, number of tiles, numbers of the tiles with the written one last,
 * priority) for each task of nt x nt tiles. */
static inline void ls_cholesky(int nt, void (*insert)(void *, int, int, const int *, int),
			       void *arg)
{
	int i, j, k;

	for (k = 0; k < nt; k++) {
		insert(arg, LS_POTRF, 1, (int[]){ k * nt + k }, 3 * (nt - k));
		for (i = k + 1; i < nt; i++)
			insert(arg, LS_TRSM, 2, (int[]){ k * nt + k, i * nt + k },
			       3 * (nt - k) - (i - k));
		for (i = k + 1; i < nt; i++) {
			insert(arg, LS_SYRK, 2, (int[]){ i * nt + k, i * nt + i },
			       3 * (nt - k) - 2 * (i - k));
			for (j = k + 1; j < i; j++)
				insert(arg, LS_GEMM, 3,
				       (int[]){ i * nt + k, j * nt + k, i * nt + j },
				       3 * (nt - k) - (i - k) - (j - k));
		}
	}
}

/* ---- ranges ---- */

struct ls_range {
	double least, most;
}; /* ms */

/* Over many draws of lots. */
static inline struct ls_range ls_range(struct ls *l, enum ls_policy p)
{
	struct ls_range r = { 1e300, 0 };
	unsigned seed;

	for (seed = 0; seed < 200; seed++) {
		double ms = ls_makespan(l, p, seed) * 1e-3;

		r.least = ms < r.least ? ms : r.least;
		r.most = ms > r.most ? ms : r.most;
	}
	printf("theory: %s %.3f to %.3f ms\n",
	       p == LS_EAGER ? "eager"
	       : p == LS_EFT ? "earliest finish time"
			     : "earliest finish time by priority",
	       r.least, r.most);
	return r;
}

/* Submissions and decisions take a little time, and who comes first among equals is not drawn by
 * lot. */
static inline int ls_within(double ms, struct ls_range r)
{
	return ms > 0.98 * r.least && ms < 1.02 * r.most;
}
#endif
