/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lower bounds on the time that the recorded tasks take on this machine, whatever the schedule
 * (starpu_bound_*).
 *
 * Area: let T be the least time in which all tasks fit when each may be cut and spread over the
 * kinds of units, min T,  sum over kinds k of x[t][k] = count[t] for each type t of tasks,  sum
 * over t of us[t][k] * x[t][k] <= n[k] * T for each k. By duality T is the largest value, over
 * weights w >= 0 with sum n[k] * w[k] = 1, of sum over t of count[t] * min over k of us[t][k] *
 * w[k]. Any weights give a bound, so the search below may stop anywhere: it is exact for one and
 * two kinds and close for more. Critical path: the longest path of shortest times, when
 * dependencies were recorded. Whole tasks: the same, and each type alone must fit when nothing is
 * cut. Transfers, priorities and the runtime's own time are not counted; tasks without a model
 * count 0, with a warning.
 *
 * Invariant: results never exceed the time of a schedule whose kernels take the expected times. */
#include "core/front/bound.h"
#include "core/task/graph.h"
#include "base/numbers.h"
#include "base/log.h"
#include "core/worker/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_STEPS 4000 /* of the search for weights when there are more than two kinds */

/* ---- recording ---- */

void starpu_bound_start(int deps, int prio)
{
	struct orr_process *proc = orr_self();
	struct orr_graph *g = proc->core->graph;

	(void) prio; /* no bound follows from priorities; they are shown by starpu_bound_print_dot
		      */
	if (proc->state != ORR_PROCESS_UP) {
		orr_error("starpu_bound_start: call starpu_init first");
		return;
	}
	if (!g || !(g->policy || g->kept))
		g = orr_graph_start(proc, deps != 0);
	if (!g) {
		orr_error("starpu_bound_start: out of memory, nothing is recorded");
		return;
	}
	orr_lock(&g->lock);
	g->mark = g->end = g->nnodes;
	ORR_ATOMIC_STORE_RELAXED(&g->bound, 1);
	orr_unlock(&g->lock);
}

void starpu_bound_stop(void)
{
	struct orr_graph *g = orr_self()->core->graph;

	if (!g || !g->bound)
		return;
	orr_lock(&g->lock);
	orr_assert(g->mark <= g->nnodes);
	g->end = g->nnodes;
	ORR_ATOMIC_STORE_RELAXED(&g->bound, 0);
	orr_unlock(&g->lock);
}

/* The recorded graph with its types counted, or NULL after a message. What had no model when it was
 * submitted may have been measured. */
static struct orr_graph *recorded(const char *what)
{
	struct orr_graph *g = orr_self()->core->graph;
	uint64_t unknown = 0;

	if (!g || (g->bound && g->mark == g->nnodes) || (!g->bound && g->mark == g->end)) {
		orr_error(
			"%s: no tasks were recorded; call starpu_bound_start before submitting them",
			what);
		return NULL;
	}
	if (g->bound)
		g->end = g->nnodes;
	orr_assert(g->mark <= g->end && g->end <= g->nnodes);
	for (uint32_t i = 0; i < g->ntypes; i++)
		g->type[i].count = 0;
	for (uint32_t i = g->mark; i < g->end; i++)
		if (g->node[i].type)
			g->type[g->node[i].type - 1].count++;
	for (uint32_t i = 0; i < g->ntypes; i++) {
		struct orr_graph_type *y = &g->type[i];

		for (unsigned k = 0; k < g->nkinds; k++) {
			struct starpu_perfmodel_device d = { .type = g->kind[k].arch,
							     .devid = g->kind[k].devid,
							     .ncores = 1 };
			struct starpu_perfmodel_arch arch = { .ndevices = 1, .devices = &d };

			if (isnan(y->us[k]) && orr_self()->state == ORR_PROCESS_UP &&
			    y->cl->model && y->cl->model->symbol)
				y->us[k] = starpu_perfmodel_history_based_expected_perf(
					y->cl->model, &arch, y->footprint);
			if (isnan(y->us[k])) {
				unknown += y->count;
				break;
			}
		}
	}
	if (unknown)
		orr_warn(
			"%s: %llu tasks have no model on some kind of unit and count 0; calibrate them (STARPU_CALIBRATE=1)",
			what, (unsigned long long) unknown);
	return g;
}

/* ---- the area ---- */

static double time_on(const struct orr_graph *g, uint32_t type, unsigned k)
{
	double us = g->type[type].us[k];

	return isnan(us) ? 0 : us;
}

/* Kinds that take the same for all types, as one: nk of them, each with one kind of the graph and
 * its units. */
struct area {
	const struct orr_graph *g;
	unsigned nk, *kind;
	double *n;
};

static int same_kind(const struct orr_graph *g, unsigned a, unsigned b)
{
	for (uint32_t t = 0; t < g->ntypes; t++)
		if (g->type[t].count && time_on(g, t, a) != time_on(g, t, b))
			return 0;
	return 1;
}

/* The bound that the weights give; load[k] gets the work that kind k would do (NULL: not wanted).
 */
static double dual(const struct area *a, const double *w, double *load)
{
	const struct orr_graph *g = a->g;
	double sum = 0;

	for (unsigned k = 0; k < a->nk && load; k++)
		load[k] = 0;
	for (uint32_t t = 0; t < g->ntypes; t++) {
		unsigned best = 0;
		double least = INFINITY;

		for (unsigned k = 0; k < a->nk; k++) {
			double us = time_on(g, t, a->kind[k]);

			if (us < INFINITY && us * w[k] < least) {
				least = us * w[k];
				best = k;
			}
		}
		if (!g->type[t].count || !(least < INFINITY))
			continue;
		sum += (double) g->type[t].count * least;
		if (load)
			load[best] += (double) g->type[t].count * time_on(g, t, a->kind[best]);
	}
	return sum;
}

/* Two kinds: the bound is concave in the weight of the first, and straight between the weights at
 * which a type changes sides. */
static double area_of_two(const struct area *a)
{
	double best = 0;

	for (uint32_t t = 0; t < a->g->ntypes + 2; t++) {
		double w[2] = { t == a->g->ntypes ? 0 : 1 / a->n[0],
				t == a->g->ntypes ? 1 / a->n[1] : 0 };

		if (t < a->g->ntypes) {
			double x = time_on(a->g, t, a->kind[0]), y = time_on(a->g, t, a->kind[1]);

			/* x * w0 = y * w1 and n0 * w0 + n1 * w1 = 1 */
			if (!(x > 0 && y > 0 && x < INFINITY && y < INFINITY))
				continue;
			w[0] = y / (a->n[0] * y + a->n[1] * x);
			w[1] = x / (a->n[0] * y + a->n[1] * x);
		}
		best = fmax(best, dual(a, w, NULL));
	}
	return best;
}

/* Kinds that have more work for each unit than the others become dearer, by ever smaller steps. */
static double area_of_many(const struct area *a)
{
	double w[a->nk + 1], load[a->nk + 1], best = 0;

	for (unsigned k = 0; k < a->nk; k++)
		w[k] = 1;
	for (unsigned step = 0; step < SEARCH_STEPS; step++) {
		double norm = 0, most = 0;

		for (unsigned k = 0; k < a->nk; k++)
			norm += a->n[k] * w[k];
		for (unsigned k = 0; k < a->nk; k++)
			w[k] /= norm;
		best = fmax(best, dual(a, w, load));
		for (unsigned k = 0; k < a->nk; k++)
			most = fmax(most, load[k] /= a->n[k]);
		for (unsigned k = 0; k < a->nk && most > 0; k++)
			w[k] *= exp((load[k] / most - 1) / (1 + step * 0.1));
	}
	return best;
}

static double area(const struct orr_graph *g)
{
	unsigned kind[g->nkinds + 1], k, i;
	double n[g->nkinds + 1], one;
	struct area a = { g, 0, kind, n };

	for (k = 0; k < g->nkinds; k++) {
		for (i = 0; i < a.nk && !same_kind(g, kind[i], k); i++)
			;
		if (i == a.nk) {
			kind[a.nk] = k;
			n[a.nk++] = 0;
		}
		n[i] += g->kind[k].nworkers;
	}
	if (!a.nk)
		return 0;
	one = 1 / n[0];
	for (k = 0; k < a.nk; k++)
		orr_assertf(n[k] > 0, "a kind of units has %g units", n[k]);
	return a.nk == 1 ? dual(&a, &one, NULL) : a.nk == 2 ? area_of_two(&a) : area_of_many(&a);
}

double orr_bound_area_us(struct orr_graph *g)
{
	for (uint32_t i = 0; i < g->ntypes; i++)
		g->type[i].count = 0;
	for (uint32_t i = 0; i < g->nnodes; i++)
		if (g->node[i].type)
			g->type[g->node[i].type - 1].count++;
	return area(g);
}

/* The least time in which the tasks of one type fit when none is cut. */
static double whole(const struct orr_graph *g, uint32_t t)
{
	double low = 0, high = INFINITY;

	for (unsigned k = 0; k < g->nkinds; k++)
		high = fmin(high, time_on(g, t, k) *
					  ceil((double) g->type[t].count / g->kind[k].nworkers));
	if (!(high > 0 && high < INFINITY))
		return 0;
	for (unsigned step = 0; step < 60; step++) {
		double mid = (low + high) / 2, fit = 0;

		for (unsigned k = 0; k < g->nkinds; k++)
			if (time_on(g, t, k) < INFINITY)
				fit += g->kind[k].nworkers * floor(mid / time_on(g, t, k) + 1e-9);
		if (fit >= (double) g->type[t].count)
			high = mid;
		else
			low = mid;
	}
	return low;
}

/* ---- the critical path ---- */

/* In microseconds; 0 when dependencies were not recorded. */
static double critical_path(const struct orr_graph *g)
{
	double *levels = g->deps ? malloc((g->end - g->mark) * sizeof(*levels)) : NULL;
	double longest = 0;

	if (levels)
		longest = fmax(0, orr_graph_levels(g, g->mark, g->end, levels));
	free(levels);
	for (uint32_t i = 0; i < g->ntypes; i++)
		if (g->type[i].count)
			longest = fmax(longest, orr_graph_shortest(g, i + 1));
	return longest;
}

void starpu_bound_compute(double *res, double *integer_res, int integer)
{
	struct orr_graph *g = recorded("starpu_bound_compute");
	double us = 0, us_whole = 0;

	if (g) {
		us = fmax(area(g), g->deps ? critical_path(g) : 0);
		us_whole = fmax(us, critical_path(g));
		orr_assertf(us >= 0 && isfinite(us), "the tasks take %g us at least", us);
		for (uint32_t t = 0; t < g->ntypes && integer; t++)
			if (g->type[t].count)
				us_whole = fmax(us_whole, whole(g, t));
	}
	if (res)
		*res = us * 1e-3;
	if (integer_res)
		*integer_res = integer ? us_whole * 1e-3 : 0;
}

/* ---- showing it ---- */

void starpu_bound_print(FILE *output, int integer)
{
	ORR_PLAIN_NUMBERS;
	struct orr_graph *g = recorded("starpu_bound_print");
	double us, us_whole;

	if (!g)
		return;
	starpu_bound_compute(&us, &us_whole, integer);
	for (uint32_t t = 0; t < g->ntypes; t++) {
		if (!g->type[t].count)
			continue;
		fprintf(output, "%s (footprint %08x): %llu tasks", g->type[t].name,
			g->type[t].footprint, (unsigned long long) g->type[t].count);
		for (unsigned k = 0; k < g->nkinds; k++)
			if (g->type[t].us[k] < INFINITY)
				fprintf(output, ", %.3f us on %s %d", g->type[t].us[k],
					starpu_perfmodel_get_archtype_name(g->kind[k].arch),
					g->kind[k].devid);
		fputc('\n', output);
	}
	for (unsigned k = 0; k < g->nkinds; k++)
		fprintf(output, "%u workers of kind %s %d\n", g->kind[k].nworkers,
			starpu_perfmodel_get_archtype_name(g->kind[k].arch), g->kind[k].devid);
	fprintf(output, "area bound: %.6f ms\n", area(g) * 1e-3);
	if (g->deps)
		fprintf(output, "critical path: %.6f ms\n", critical_path(g) * 1e-3);
	fprintf(output, "lower bound: %.6f ms\n", us);
	if (integer)
		fprintf(output, "lower bound with whole tasks: %.6f ms\n", us_whole);
}

void starpu_bound_print_lp(FILE *output)
{
	ORR_PLAIN_NUMBERS;
	struct orr_graph *g = recorded("starpu_bound_print_lp");

	if (!g)
		return;
	fprintf(output,
		"/* Orrery: least time in microseconds of the recorded tasks; xT_K: tasks of type T on units of kind K */\nmin: tmax;\n\n");
	for (uint32_t t = 0; t < g->ntypes; t++) {
		if (!g->type[t].count)
			continue;
		fprintf(output, "/* %s, footprint %08x */\nc%u:", g->type[t].name,
			g->type[t].footprint, t);
		for (unsigned k = 0; k < g->nkinds; k++)
			if (g->type[t].us[k] < INFINITY || isnan(g->type[t].us[k]))
				fprintf(output, " + x%u_%u", t, k);
		fprintf(output, " = %llu;\n", (unsigned long long) g->type[t].count);
	}
	for (unsigned k = 0; k < g->nkinds; k++) {
		fprintf(output, "\n/* %u units: %s %d */\nw%u:", g->kind[k].nworkers,
			starpu_perfmodel_get_archtype_name(g->kind[k].arch), g->kind[k].devid, k);
		for (uint32_t t = 0; t < g->ntypes; t++)
			if (g->type[t].count && g->type[t].us[k] < INFINITY)
				fprintf(output, " + %.9g x%u_%u", g->type[t].us[k], t, k);
		fprintf(output, " - %u tmax <= 0;\n", g->kind[k].nworkers);
	}
	if (g->deps)
		fprintf(output, "\n/* critical path */\np: tmax >= %.9g;\n", critical_path(g));
}

/* Rows of equal type must stand together in a column: one pass over types, each with its kinds. */
void starpu_bound_print_mps(FILE *output)
{
	ORR_PLAIN_NUMBERS;
	struct orr_graph *g = recorded("starpu_bound_print_mps");

	if (!g)
		return;
	fprintf(output, "NAME orrery\nROWS\n N obj\n");
	for (uint32_t t = 0; t < g->ntypes; t++)
		if (g->type[t].count)
			fprintf(output, " E c%u\n", t);
	for (unsigned k = 0; k < g->nkinds; k++)
		fprintf(output, " L w%u\n", k);
	if (g->deps)
		fprintf(output, " G p\n");
	fprintf(output, "COLUMNS\n");
	for (uint32_t t = 0; t < g->ntypes; t++)
		for (unsigned k = 0; k < g->nkinds; k++)
			if (g->type[t].count &&
			    (g->type[t].us[k] < INFINITY || isnan(g->type[t].us[k])))
				fprintf(output, " x%u_%u c%u 1\n x%u_%u w%u %.9g\n", t, k, t, t, k,
					k, time_on(g, t, k));
	fprintf(output, " tmax obj 1\n");
	for (unsigned k = 0; k < g->nkinds; k++)
		fprintf(output, " tmax w%u -%u\n", k, g->kind[k].nworkers);
	if (g->deps)
		fprintf(output, " tmax p 1\n");
	fprintf(output, "RHS\n");
	for (uint32_t t = 0; t < g->ntypes; t++)
		if (g->type[t].count)
			fprintf(output, " rhs c%u %llu\n", t,
				(unsigned long long) g->type[t].count);
	if (g->deps)
		fprintf(output, " rhs p %.9g\n", critical_path(g));
	fprintf(output, "ENDATA\n");
}

void starpu_bound_print_dot(FILE *output)
{
	struct orr_graph *g = recorded("starpu_bound_print_dot");

	if (!g)
		return;
	fprintf(output, "digraph bound {\n");
	for (uint32_t i = g->mark; i < g->end; i++)
		if (g->node[i].type)
			fprintf(output, "\tt%u [label=\"%s\\njob %llu prio %d\"];\n", i - g->mark,
				g->type[g->node[i].type - 1].name,
				(unsigned long long) g->node[i].job, g->node[i].prio);
	for (uint64_t e = 0; e < g->nedges; e++)
		if (g->edge[e].from >= g->mark && g->edge[e].to >= g->mark &&
		    g->edge[e].from < g->end && g->edge[e].to < g->end)
			fprintf(output, "\tt%u -> t%u;\n", g->edge[e].from - g->mark,
				g->edge[e].to - g->mark);
	fprintf(output, "}\n");
}
