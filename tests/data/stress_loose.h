/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stress test's operations outside of the order of submission.
 *
 * Additions are made outside of sequential consistency between two tasks that are under it: a gate,
 * which they depend on, and a join, which depends on them. Both write all the data, execute
 * nowhere, and may be submitted in any order with the additions: the join has its turn on the data
 * before the additions have run, and must not be in their way. Some are made in each round of a
 * task that regenerates. Invariant: additions commute, so the
 * oracle knows the result. */
#ifndef STRESS_LOOSE_H
#define STRESS_LOOSE_H

#include "stress.h"

#define MAXLOOSE 5

static starpu_tag_t next_tag = 1;

/* Tags from `first` on are not used any more. */
static void remove_tags(starpu_tag_t first)
{
	for (; first < next_tag; first++)
		starpu_tag_remove(first);
}

/* An acquisition outside of the order that a gate's callback starts, and that notifies a tag when
 * it is over. */
struct visit {
	starpu_data_handle_t h;
	uint32_t a;
	starpu_tag_t over;
};

static void visiting(void *p)
{
	struct visit *v = p;
	void *iface = starpu_data_get_interface_on_node(v->h, STARPU_MAIN_RAM);
	unsigned c;

	for (c = 0; c < CELLS; c++)
		*cell_of(iface, c) += v->a * (c + 1);
	starpu_data_release_on_node(v->h, STARPU_MAIN_RAM);
	starpu_tag_notify_from_apps(v->over);
	free(v);
}

static void visit(void *p)
{
	struct visit *v = p;

	MUST(starpu_data_acquire_on_node_cb_sequential_consistency(v->h, STARPU_MAIN_RAM, STARPU_RW,
								   visiting, v, 0));
}

/* The gate's callback makes an addition too, by an acquisition; the join waits for it. */
static void add_visit(struct datum *d, struct starpu_task *gate, struct starpu_task *join)
{
	struct visit *v = malloc(sizeof(*v));

	*v = (struct visit){ .h = d->h, .a = rnd(1000), .over = next_tag++ };
	gate->callback_func = visit;
	gate->callback_arg = v;
	join->use_tag = 1;
	join->tag_id = next_tag++;
	starpu_tag_declare_deps(join->tag_id, 1, v->over);
	oracle_add(d, v->a);
	d->loose = 1;
}

/* One addition to d, to x, or to both. */
static struct starpu_task *loose_task(struct datum *d, struct datum *x)
{
	static unsigned char none[2];
	struct starpu_codelet *const both[] = { &cl_rw2, &cl_commute2 }, *const single[] = {
		&cl_rw, &cl_commute
	};
	uint32_t a = rnd(1000), b = rnd(1000);
	struct starpu_task *task;

	if (x && rnd(2)) {
		struct datum *first = rnd(2) ? d : x, *second = first == d ? x : d;

		task = new_task(both[rnd(2)], new_arg(ADD2, a, b), first->h, second->h, NULL);
		oracle_add(first, a);
		oracle_add(second, b);
	} else {
		struct datum *one = x && rnd(2) ? x : d;

		task = new_task(single[rnd(2)], new_arg(ADD, a, 0), one->h, NULL, NULL);
		oracle_add(one, a);
	}
	if (rnd(2))
		task->handles_sequential_consistency = none;
	else
		task->sequential_consistency = 0;
	return task;
}

/* A task that regenerates, and notifies a tag after its last round. */
struct rounds {
	struct starpu_task *task;
	unsigned left;
	starpu_tag_t over;
};

static void round_over(void *p)
{
	struct rounds *r = p;

	if (--r->left)
		return;
	r->task->regenerate = 0;
	starpu_tag_notify_from_apps(r->over);
	free(r);
}

/* An addition to d in each of its rounds; the join waits for the last one. */
static struct starpu_task *rounds_task(struct datum *d, struct starpu_task *join)
{
	struct rounds *r = malloc(sizeof(*r));
	uint32_t a = rnd(1000);

	*r = (struct rounds){ .left = 1 + rnd(4), .over = next_tag++ };
	r->task = new_task(rnd(2) ? &cl_rw : &cl_commute, new_arg(ADD, a, 0), d->h, NULL, NULL);
	r->task->sequential_consistency = 0;
	r->task->regenerate = 1;
	r->task->callback_func = round_over;
	r->task->callback_arg = r;
	join->use_tag = 1;
	join->tag_id = next_tag++;
	starpu_tag_declare_deps(join->tag_id, 1, r->over);
	oracle_add(d, a * r->left);
	d->loose = 1;
	return r->task;
}

static void op_loose(struct datum *d)
{
	struct datum *x = rnd(2) ? other(d) : NULL;
	struct starpu_codelet *fence = x ? &cl_fence2 : &cl_fence;
	struct starpu_task *gate = new_task(fence, NULL, d->h, x ? x->h : NULL, NULL),
			   *join = new_task(fence, NULL, d->h, x ? x->h : NULL, NULL);
	struct starpu_task *add[MAXLOOSE];
	unsigned i, n = 1 + rnd(MAXLOOSE), at = rnd(n + 1);

	if (!d->nplans && rnd(3) == 0)
		add_visit(d, gate, join);
	for (i = 0; i < n; i++) {
		add[i] = !d->nplans && !join->use_tag && rnd(4) == 0 ? rounds_task(d, join)
								     : loose_task(d, x);
		starpu_task_declare_deps(add[i], 1, gate);
	}
	starpu_task_declare_deps_array(join, n, add);
	MUST(starpu_task_submit(gate));
	for (i = 0; i <= n; i++) {
		if (i == at)
			MUST(starpu_task_submit(join));
		if (i < n)
			MUST(starpu_task_submit(add[i]));
	}
}

/* ---- acquisitions by callback ---- */

struct cb {
	struct datum d;
	uint32_t add;
	unsigned node;
	starpu_tag_t granted; /* not 0: a task that waits for this tag releases it */
};

static void release_cb(void *p)
{
	struct cb *cb = p;

	starpu_data_release_on_node(cb->d.h, (int) cb->node);
	free(cb);
}

static void acquired(void *p)
{
	struct cb *cb = p;
	void *iface = starpu_data_get_interface_on_node(cb->d.h, cb->node);
	unsigned c;

	for (c = 0; c < CELLS; c++) {
		uint32_t got = get_cell(iface, cb->node, c);

		if (got != cb->d.oracle[c])
			fail("a callback's read", 0, c, got, cb->d.oracle[c]);
		if (cb->add)
			set_cell(iface, cb->node, c, got + cb->add * (c + 1));
	}
	if (cb->granted)
		starpu_tag_notify_from_apps(cb->granted);
	else
		release_cb(cb);
}

/* Released in the callback, or later by another thread. */
static void op_acquire_cb(struct datum *d)
{
	struct cb *cb = calloc(1, sizeof(*cb));
	struct starpu_task *task;

	cb->d = *d;
	cb->add = rnd(2) ? rnd(1000) : 0;
	cb->node = rnd(2) ? STARPU_MAIN_RAM : rnd(starpu_memory_nodes_get_count());
	if (rnd(3) == 0) {
		cb->granted = next_tag++;
		task = new_task(&starpu_codelet_nop, NULL, NULL, NULL, NULL);
		task->use_tag = 1;
		task->tag_id = next_tag++;
		task->callback_func = release_cb;
		task->callback_arg = cb;
		starpu_tag_declare_deps(task->tag_id, 1, cb->granted);
		MUST(starpu_task_submit(task));
	}
	oracle_add(d, cb->add);
	MUST(starpu_data_acquire_on_node_cb(d->h, (int) cb->node, cb->add ? STARPU_RW : STARPU_R,
					    acquired, cb));
}
#endif
