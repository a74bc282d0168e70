/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Company: how kernels on one computer slow each other down (see sim_company.h).
 *
 * When a kernel begins or ends, what is left of each other one is stretched from its old slowdown
 * to its new one. All kernels of a kind have the same slowdown at any time. The runtime's work for
 * a worker is stretched with its kernel, as it is where cores are shared (sim_cores.c).
 *
 * Where more kernels run than there are cores, they take turns: while one of n has one of c cores,
 * c - 1 of the n - 1 others are beside it.
 *
 * Invariant: `count` has the members of each kind, and `slowdown` what their ends were last
 * computed with. */
#include "machine/sim_company.h"

#include <stdlib.h>
#include <string.h>

#include "actors/sim_rank.h"
#include "base/assert.h"
#include "base/contention.h"
#include "base/log.h"
#include "base/park.h"
#include "base/upcalls.h"
#include "machine/sim_cores.h"
#include "sim.h"

struct member {
	struct orr_sim_rank *rank;
	struct orr_kernel *k;
	int kind; /* the number of its curve; one of those below: it has none */
};

#define UNKNOWN (-1)
#define UNKNOWN_NOTED (-2) /* the summary will name it */

struct orr_sim_company {
	const struct orr_contention *table;
	unsigned ncores;
	struct member *member;
	unsigned n, room;
	/* Of each kind. */
	unsigned *count, *largest; /* now; the largest company beyond what was measured, else 0 */
	double *slowdown, *before; /* the latter before the last change */
	unsigned nunknown;         /* members that are UNKNOWN */
};

struct orr_sim_company *orr_sim_company_make(const struct orr_contention *t, unsigned ncores)
{
	struct orr_sim_company *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->table = t;
	c->ncores = ncores;
	c->count = calloc(t->ncurves + 1, sizeof(*c->count));
	c->largest = calloc(t->ncurves + 1, sizeof(*c->largest));
	c->slowdown = calloc(t->ncurves + 1, sizeof(*c->slowdown));
	c->before = calloc(t->ncurves + 1, sizeof(*c->before));
	return c->count && c->largest && c->slowdown && c->before ? c : NULL;
}

/* ---- kinds ---- */

/* The names of a kernel: of its performance model, its codelet, its task; NULL: it has none. */
static void names_of(const struct starpu_task *t, const char *name[3])
{
	const struct starpu_codelet *cl = t->cl;

	name[0] = cl && cl->model ? cl->model->symbol : NULL;
	name[1] = cl ? cl->name : NULL;
	name[2] = t->name;
}

/* By the first name that has a curve. */
static int kind_of(const struct orr_sim_company *c, const struct starpu_task *t)
{
	const char *name[3];

	names_of(t, name);
	for (int i = 0; i < 3; i++) {
		int kind = name[i] ? orr_contention_find(c->table, name[i]) : -1;

		if (kind >= 0)
			return kind;
	}
	return UNKNOWN;
}

/* ---- for the summary ---- */

static void note_guess(const char *name, unsigned measured, unsigned company)
{
	struct orr_sim_guess g = { NULL, measured, company };

	for (unsigned i = 0; i < orr_sim.nguesses; i++) {
		struct orr_sim_guess *old = &orr_sim.guesses[i];

		if (strcmp(old->name, name) || old->measured != measured)
			continue;
		if (old->used < g.used)
			old->used = g.used;
		return;
	}
	struct orr_sim_guess *more = realloc(orr_sim.guesses,
					     (orr_sim.nguesses + 1) * sizeof(*more));
	if (!more)
		return;
	orr_sim.guesses = more;
	if ((g.name = strdup(name)))
		more[orr_sim.nguesses++] = g;
}

static const char *first_name(const struct starpu_task *t)
{
	const char *names[3];
	names_of(t, names);
	for (int i = 0; i < 3; i++)
		if (names[i])
			return names[i];
	return "unnamed";
}

static void note_unknown(const struct starpu_task *t)
{
	const char *name = first_name(t);

	for (unsigned i = 0; i < orr_sim.nunmet; i++)
		if (!strcmp(orr_sim.unmet[i], name))
			return;
	char **more = realloc(orr_sim.unmet, (orr_sim.nunmet + 1) * sizeof(*more));
	if (!more)
		return;
	orr_sim.unmet = more;
	if ((more[orr_sim.nunmet] = strdup(name)))
		orr_sim.nunmet++;
}

/* Kernels without a curve that have company. */
static void note_unknown_members(struct orr_sim_company *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		if (c->member[i].kind != UNKNOWN)
			continue;
		note_unknown(c->member[i].k->task);
		c->member[i].kind = UNKNOWN_NOTED;
	}
	c->nunknown = 0;
}

/* ---- slowdowns ---- */

/* The pressure of those beside a kernel of that kind. */
static double pressure(const struct orr_sim_company *c, unsigned kind)
{
	const double *press = &c->table->press[kind * c->table->ncurves];
	double all = c->count[kind] - 1;

	for (unsigned i = 0; i < c->table->ncurves; i++)
		if (i != kind && c->count[i])
			all += c->count[i] * press[i];
	return c->n > c->ncores ? all * (c->ncores - 1) / (c->n - 1) : all;
}

/* The company has changed. Returns 1 if a slowdown has risen, 2 if one has fallen, their sum if
 * both have, else 0. */
static int update(struct orr_sim_company *c)
{
	unsigned company = c->n < c->ncores ? c->n : c->ncores;
	int changed = 0;

	for (unsigned i = 0; i < c->table->ncurves; i++) {
		const struct orr_contention_curve *curve = &c->table->curve[i];

		c->before[i] = c->slowdown[i];
		if (!c->count[i])
			continue;
		c->slowdown[i] = orr_contention_slowdown(curve, pressure(c, i));
		orr_assert(c->slowdown[i] >= 1);
		if (c->slowdown[i] != c->before[i])
			changed |= c->slowdown[i] < c->before[i] ? 2 : 1;
		if (company > orr_contention_measured(curve) && company > c->largest[i]) {
			c->largest[i] = company;
			note_guess(curve->name, orr_contention_measured(curve), company);
		}
	}
	return changed;
}

/* Returns whether kernels end earlier now. */
static int stretch(struct orr_sim_company *c, const struct orr_sim_cores *cores)
{
	double now = orr_sys_now_us();
	int changed = update(c);

	if (!changed)
		return 0;
	for (unsigned i = 0; i < c->n; i++) {
		const struct member *m = &c->member[i];

		if (m->kind >= 0 && m->rank->runtime_up && m->k->end_us > now)
			m->k->end_us = now + (m->k->end_us - now) * c->slowdown[m->kind] /
						     c->before[m->kind];
	}
	for (const struct orr_sim_rank *r = cores->ranks; r; r = r->next_on_computer)
		if (r->runtime_up)
			r->proc->core_up->order(r->proc);
	return changed & 2;
}

/* ---- members ---- */

double orr_sim_company_enter(struct orr_sim_rank *r, struct orr_kernel *k, double end_us)
{
	struct orr_sim_company *c = r->cores->company;
	double now = orr_sys_now_us();
	int kind = kind_of(c, k->task);

	if (c->n == c->room) {
		unsigned room = c->room ? 2 * c->room : 16;
		struct member *m = realloc(c->member, room * sizeof(*m));

		if (!m)
			orr_fatal("out of memory for the kernels of a computer; simulate fewer");
		c->member = m;
		c->room = room;
	}
	k->end_us = 0; /* not known yet: it is not stretched */
	c->member[c->n++] = (struct member){ r, k, kind };
	if (kind >= 0)
		c->count[kind]++;
	else
		c->nunknown++;
	if (c->nunknown && c->n > 1)
		note_unknown_members(c);
	stretch(c, r->cores);
	return kind >= 0 ? now + (end_us - now) * c->slowdown[kind] : end_us;
}

static void drop(struct orr_sim_company *c, unsigned i)
{
	int kind = c->member[i].kind;

	if (kind >= 0) {
		orr_assert(c->count[kind] > 0);
		c->count[kind]--;
	} else if (kind == UNKNOWN) {
		c->nunknown--;
	}
	c->member[i] = c->member[--c->n];
}

int orr_sim_company_leave(struct orr_sim_rank *r, const struct orr_kernel *k)
{
	struct orr_sim_company *c = r->cores->company;
	unsigned i = 0;

	while (i < c->n && c->member[i].k != k)
		i++;
	orr_assertf(i < c->n, "a kernel ends on rank %d, where it never began", r->rank);
	drop(c, i);
	return stretch(c, r->cores);
}

void orr_sim_company_unmeasured(const struct orr_sim_rank *r, const struct starpu_task *t)
{
	const struct orr_sim_cores *c = r->cores;
	unsigned company = c->busy < c->ncores ? c->busy : c->ncores;
	if (r->machine && company > r->machine->ncpus)
		note_guess(first_name(t), r->machine->ncpus, company);
}

void orr_sim_company_wake(const struct orr_sim_rank *r)
{
	for (r = r->cores->ranks; r; r = r->next_on_computer)
		if (r->runtime_up)
			orr_park_wake_all(r->proc);
}
