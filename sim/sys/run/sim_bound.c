/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lower bounds on the virtual time of what all ranks submitted (--bound).
 *
 * Each rank's runtime records its graph of tasks and messages (core/task/graph.h). Area: a rank's
 * tasks have to be done by that rank's units; runs of the runtime in a rank follow one another.
 * Critical path: the graphs of all ranks, joined where a send meets its receive, the k-th one from
 * a rank to another with the same tag; messages, copies and the runtime's own work take no time on
 * it.
 *
 * Invariant: with kernels that take the times of their models, no schedule on these machines is
 * shorter than either bound. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "actors/sim_rank.h"
#include "run/sim_bound.h"
#include "base/upcalls.h"
#include "base/assert.h"

/* A message as one of its two sides posted it. */
struct end {
	int32_t src, dst;
	uint32_t context, node; /* node: in the joined graph */
	int64_t tag;
	uint64_t order;
	int receive;
};

/* All ranks' graphs as one: successors of node i in succ[off[i] .. off[i + 1]). */
struct joined {
	uint32_t nnodes;
	uint64_t nedges;
	uint64_t *off;
	uint32_t *from, *to, *succ, *npred, *todo;
	double *us, *start; /* shortest time of a node; earliest start */
	struct end *end;
	uint64_t nends;
};

void orr_sim_bound_collect(struct orr_sim_rank *r)
{
	struct orr_graph *g = r->proc ? r->proc->core_up->graph(r->proc) : NULL;
	if (!orr_sim.bound || !g || (r->ngraphs && r->graphs[r->ngraphs - 1] == g))
		return;
	struct orr_graph **v = realloc(r->graphs, (r->ngraphs + 1) * sizeof(*v));
	if (!v)
		return;
	r->graphs = v;
	v[r->ngraphs++] = g;
}

/* ---- area ---- */

static void areas(struct orr_sim_bounds *b)
{
	for (int i = 0; i < orr_sim.nranks; i++) {
		const struct orr_sim_rank *r = &orr_sim.ranks[i];
		double us = 0;
		for (unsigned k = 0; k < r->ngraphs; k++)
			us += r->proc->core_up->graph_area_us(r->graphs[k]);
		b->area_mean_us += us / orr_sim.nranks;
		if (us > b->area_us) {
			b->area_us = us;
			b->area_rank = i;
		}
	}
}

/* ---- critical path ---- */

static int by_meeting(const void *x, const void *y)
{
	const struct end *a = x, *b = y;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	if (a->receive != b->receive)
		return a->receive - b->receive;
	return (a->order > b->order) - (a->order < b->order);
}

static int same_channel(const struct end *a, const struct end *b)
{
	return a->src == b->src && a->dst == b->dst && a->context == b->context && a->tag == b->tag;
}

static void add_edge(struct joined *j, uint32_t from, uint32_t to)
{
	orr_assert(from < j->nnodes && to < j->nnodes);
	j->from[j->nedges] = from;
	j->to[j->nedges++] = to;
	j->npred[to]++;
}

/* In each channel sends stand before receives, both in the order in which they were posted. */
static void join_messages(struct joined *j)
{
	qsort(j->end, j->nends, sizeof(*j->end), by_meeting);
	for (uint64_t first = 0, next; first < j->nends; first = next) {
		uint64_t receives = first;
		for (next = first; next < j->nends && same_channel(&j->end[first], &j->end[next]);
		     next++)
			receives += !j->end[next].receive;
		for (uint64_t k = 0; first + k < receives && receives + k < next; k++)
			add_edge(j, j->end[first + k].node, j->end[receives + k].node);
	}
}

static void add_graph(struct joined *j, const struct orr_sim_rank *r, const struct orr_graph *g)
{
	const struct orr_core_upcalls *up = r->proc->core_up;
	uint32_t base = j->nnodes;
	int rank = r->rank;
	struct orr_graph_view v;
	up->graph_view(g, &v);
	for (uint32_t i = 0; i < v.nnodes; i++)
		j->us[j->nnodes++] = up->graph_node_us(g, i);
	for (uint64_t e = 0; e < v.nedges; e++)
		add_edge(j, base + v.edge[e].from, base + v.edge[e].to);
	for (uint32_t i = 0; i < v.nmessages; i++) {
		const struct orr_graph_message *m = &v.message[i];
		if (m->peer < 0)
			continue; /* from anybody: the graph does not say whom */
		j->end[j->nends] = (struct end){ m->receive ? m->peer : rank,
						 m->receive ? rank : m->peer,
						 m->context,
						 base + m->node,
						 m->tag,
						 j->nends,
						 m->receive };
		j->nends++;
	}
}

static int join(struct joined *j)
{
	uint64_t nnodes = 0, nedges = 0, nends = 0;
	memset(j, 0, sizeof(*j));
	for (int i = 0; i < orr_sim.nranks; i++) {
		for (unsigned k = 0; k < orr_sim.ranks[i].ngraphs; k++) {
			struct orr_graph_view v;
			orr_sim.ranks[i].proc->core_up->graph_view(orr_sim.ranks[i].graphs[k], &v);
			nnodes += v.nnodes;
			nedges += v.nedges;
			nends += v.nmessages;
		}
	}
	j->off = calloc(nnodes + 2, sizeof(*j->off));
	j->npred = calloc(nnodes + 1, sizeof(*j->npred));
	j->todo = calloc(nnodes + 1, sizeof(*j->todo));
	j->us = calloc(nnodes + 1, sizeof(*j->us));
	j->start = calloc(nnodes + 1, sizeof(*j->start));
	j->from = calloc(nedges + nends + 1, sizeof(*j->from));
	j->to = calloc(nedges + nends + 1, sizeof(*j->to));
	j->succ = calloc(nedges + nends + 1, sizeof(*j->succ));
	j->end = calloc(nends + 1, sizeof(*j->end));
	if (nnodes >= UINT32_MAX || !j->off || !j->npred || !j->todo || !j->us || !j->start ||
	    !j->from || !j->to || !j->succ || !j->end)
		return -ENOMEM;
	for (int i = 0; i < orr_sim.nranks; i++)
		for (unsigned k = 0; k < orr_sim.ranks[i].ngraphs; k++)
			add_graph(j, &orr_sim.ranks[i], orr_sim.ranks[i].graphs[k]);
	join_messages(j);
	for (uint64_t e = 0; e < j->nedges; e++)
		j->off[j->from[e] + 2]++;
	for (uint32_t i = 0; i < j->nnodes; i++)
		j->off[i + 2] += j->off[i + 1];
	for (uint64_t e = 0; e < j->nedges; e++)
		j->succ[j->off[j->from[e] + 1]++] = j->to[e];
	return 0;
}

/* The longest path; nodes whose predecessors are all done are visited, in any order. */
static double longest(struct joined *j)
{
	uint32_t n = 0, *todo = j->todo;
	double last = 0;
	for (uint32_t i = 0; i < j->nnodes; i++)
		if (!j->npred[i])
			todo[n++] = i;
	while (n) {
		orr_assert(n <= j->nnodes);
		uint32_t i = todo[--n];
		double end = j->start[i] + j->us[i];
		if (end > last)
			last = end;
		for (uint64_t e = j->off[i]; e < j->off[i + 1]; e++) {
			uint32_t s = j->succ[e];
			if (end > j->start[s])
				j->start[s] = end;
			if (!--j->npred[s])
				todo[n++] = s;
		}
	}
	return last;
}

int orr_sim_bound_compute(struct orr_sim_bounds *b)
{
	struct joined j;
	memset(b, 0, sizeof(*b));
	/* A rank may have ended without stopping its runtime. */
	for (int i = 0; i < orr_sim.nranks; i++)
		orr_sim_bound_collect(&orr_sim.ranks[i]);
	areas(b);
	int ret = join(&j);
	if (!ret)
		b->path_us = longest(&j);
	else
		fputs("orrery sim: out of memory for the critical path\n", stderr);
	free(j.off);
	free(j.npred);
	free(j.todo);
	free(j.us);
	free(j.start);
	free(j.from);
	free(j.to);
	free(j.succ);
	free(j.end);
	return ret;
}
