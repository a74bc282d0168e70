/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stress test's operations on pieces: several plans of a datum at once, plans of pieces,
 * explicit and automatic switches between views for reading and writing, synchronous partitions.
 *
 * Invariant: first[] of a plan says which words of the whole its pieces are; the oracle needs
 * nothing else. */
#ifndef STRESS_VIEWS_H
#define STRESS_VIEWS_H

#include "stress.h"

/* One task on words [first, end) of d, which are the handle h. */
static void piece_task(struct datum *d, starpu_data_handle_t h, unsigned first, unsigned end)
{
	static struct starpu_codelet *const cls[] = { &cl_piece_rw, &cl_piece_w, &cl_piece_r };
	unsigned what = rnd(3), c;
	struct arg *g = new_arg(what == 0   ? ALL_ADD
				: what == 1 ? ALL_SET
					    : ALL_CHECK,
				rnd(1000), 0);

	g->datum = (unsigned) (d - data);
	for (c = 0; c < CELLS; c++) {
		unsigned at = position(d->n, c);

		if (at < first || at >= end)
			continue;
		if (what == 0)
			d->oracle[c] += g->a;
		else if (what == 1)
			d->oracle[c] = g->a;
		g->at[g->ncells] = at - first;
		g->want[g->ncells++] = d->oracle[c];
	}
	submit(cls[what], g, h, NULL, NULL);
}

/* Tasks on some pieces, in any order. */
static void piece_tasks(struct datum *d, struct plan *p)
{
	unsigned k, n = 1 + rnd(2 * p->n);

	for (k = 0; k < n; k++) {
		unsigned i = rnd(p->n);

		piece_task(d, p->piece[i], p->first[i], p->first[i + 1]);
	}
}

static void set_bounds(struct plan *p, unsigned first)
{
	unsigned i;

	p->first[0] = first;
	for (i = 0; i < p->n; i++)
		p->first[i + 1] = p->first[i] + (unsigned) starpu_vector_get_nx(p->piece[i]);
}

/* A further plan, of the whole or of a piece of another one. */
static void new_plan(struct datum *d)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block,
					.nchildren = 2 + rnd(MAXPIECES - 1) };
	struct plan *p = &d->plan[d->nplans];

	*p = (struct plan){ .father = d->h, .n = f.nchildren };
	if (d->nplans && rnd(2)) {
		struct plan *outer = &d->plan[rnd(d->nplans)];
		unsigned i = rnd(outer->n);

		p->father = outer->piece[i];
		p->depth = outer->depth + 1;
		p->first[0] = outer->first[i];
	}
	starpu_data_partition_plan(p->father, &f, p->piece);
	set_bounds(p, p->first[0]);
	d->nplans++;
}

static int any_node(void)
{
	return (int) rnd(starpu_memory_nodes_get_count());
}

/* All views but the whole end: then this plan's, as the program asks for it. */
static void explicit_view(struct datum *d, struct plan *p)
{
	unsigned k, depth;

	for (depth = MAXPLANS; depth-- > 0;)
		for (k = 0; k < d->nplans; k++)
			if (d->plan[k].depth == depth)
				starpu_data_unpartition_submit(d->plan[k].father, d->plan[k].n,
							       d->plan[k].piece,
							       rnd(2) ? any_node() : -1);
	if (p->depth)
		return; /* what it is cut from is not there: automatic switches will do */
	if (rnd(2)) {
		starpu_data_partition_readonly_submit(p->father, p->n, p->piece);
		if (rnd(2))
			starpu_data_partition_readwrite_upgrade_submit(p->father, p->n, p->piece);
	} else {
		starpu_data_partition_submit(p->father, p->n, p->piece);
		if (rnd(2))
			starpu_data_partition_readonly_downgrade_submit(p->father, p->n, p->piece);
	}
}

static void op_views(struct datum *d)
{
	struct plan *p;

	if (d->loose)
		return;
	if (d->nplans < MAXPLANS && (!d->nplans || rnd(3) == 0))
		new_plan(d);
	p = &d->plan[rnd(d->nplans)];
	if (rnd(4) == 0)
		explicit_view(d, p);
	piece_tasks(d, p);
}

static void drop_plans(struct datum *d)
{
	while (d->nplans) {
		struct plan *p = &d->plan[--d->nplans];

		if (rnd(2))
			starpu_data_partition_clean(p->father, p->n, p->piece);
		else
			starpu_data_partition_clean_node(p->father, p->n, p->piece, any_node());
	}
}

/* The synchronous calls, one level or two. */
static void op_partition(struct datum *d)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block,
					.nchildren = 2 + rnd(MAXPIECES - 1) };
	struct plan p = { .father = d->h, .n = f.nchildren }, q;
	unsigned i;

	drop_plans(d);
	if (d->loose)
		return;
	starpu_data_partition(d->h, &f);
	for (i = 0; i < p.n; i++)
		p.piece[i] = starpu_data_get_sub_data(d->h, 1, i);
	set_bounds(&p, 0);
	piece_tasks(d, &p);
	if (rnd(2)) {
		f.nchildren = 2;
		q = (struct plan){ .father = p.piece[0], .n = 2 };
		starpu_data_partition(p.piece[0], &f);
		for (i = 0; i < 2; i++)
			q.piece[i] = starpu_data_get_sub_data(d->h, 2, 0, i);
		set_bounds(&q, 0);
		piece_tasks(d, &q);
		if (rnd(2)) {
			starpu_data_unpartition(p.piece[0], (unsigned) any_node());
			piece_tasks(d, &p);
		}
	}
	starpu_data_unpartition(d->h, (unsigned) any_node());
}
#endif
