/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kept dependencies (see task_edges.h).
 *
 * Invariant: an edge stands in the list `out` of its first task and in the list `in` of its second
 * one; tasks are released after core->edge_lock. */
#include "core/task/task_edges.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/task/task_trace.h"

struct orr_edge {
	struct orr_task *from, *to;
	struct orr_edge *next_out, **prev_out; /* of from */
	struct orr_edge *next_in, **prev_in;   /* of to */
	uint8_t awaited;
	uint64_t cause;    /* the last of these ends */
	uint64_t narrived; /* ends of from that no round of to has consumed */
};

struct orr_edges {
	struct orr_edge *in, *out;
	unsigned nin, nout;
};

static orr_lock_t *edge_lock(void)
{
	return &orr_self()->core->edge_lock;
}

static struct orr_edges *edges_of(struct orr_task *t)
{
	if (!t->edges)
		t->edges = calloc(1, sizeof(*t->edges));
	if (!t->edges)
		orr_fatal("out of memory for the dependencies of task %s", orr_task_name(t->pub));
	return t->edges;
}

static int is_kept(struct orr_task *from, struct orr_task *to)
{
	struct orr_edge *e;

	if (from->edges->nout < to->edges->nin)
		for (e = from->edges->out; e && e->to != to; e = e->next_out)
			;
	else
		for (e = to->edges->in; e && e->from != from; e = e->next_in)
			;
	return e != NULL;
}

static void keep(struct orr_task *from, struct orr_task *to)
{
	struct orr_edges *f = edges_of(from), *t = edges_of(to);

	orr_assert_locked(edge_lock());
	orr_assertf(from != to, "task %s would wait for itself", orr_task_name(to->pub));
	if (is_kept(from, to))
		return;
	struct orr_edge *e = malloc(sizeof(*e));
	if (!e)
		orr_fatal("out of memory for the dependencies of task %s", orr_task_name(to->pub));
	*e = (struct orr_edge){ .from = from,
				.to = to,
				.next_out = f->out,
				.prev_out = &f->out,
				.next_in = t->in,
				.prev_in = &t->in };
	if (f->out)
		f->out->prev_out = &e->next_out;
	if (t->in)
		t->in->prev_in = &e->next_in;
	f->out = t->in = e;
	f->nout++;
	t->nin++;
}

static void drop(struct orr_edge *e)
{
	orr_assert_locked(edge_lock());
	orr_assert(*e->prev_out == e && *e->prev_in == e);
	*e->prev_out = e->next_out;
	if (e->next_out)
		e->next_out->prev_out = e->prev_out;
	*e->prev_in = e->next_in;
	if (e->next_in)
		e->next_in->prev_in = e->prev_in;
	orr_assert(e->from->edges->nout > 0 && e->to->edges->nin > 0);
	e->from->edges->nout--;
	e->to->edges->nin--;
	free(e);
}

/* The first task of e ended: its second task goes on if it waits, and otherwise finds that end in a
 * later round. */
static void arrive(struct orr_edge *e, struct orr_task_array *released)
{
	orr_assert_locked(edge_lock());
	orr_assert(!e->awaited || !e->narrived);
	if (!e->awaited) {
		e->narrived++;
		e->cause = ORR_CAUSE_TASK | e->from->job_id;
		return;
	}
	e->awaited = 0;
	if (orr_task_array_add(released, e->to))
		orr_fatal("out of memory at the end of task %s", orr_task_name(e->from->pub));
}

/* Those that awaited something wait for one thing fewer. */
static void release(struct orr_task_array *released)
{
	orr_assert_no_lock();
	for (unsigned i = 0; i < released->n; i++) {
		struct orr_owner *o = &orr_task_array_get(released, i)->owner;

		o->ops->turn(o);
	}
	orr_task_array_free(released);
}

void orr_task_edges_ended(struct orr_task *from, struct orr_task_array *succ)
{
	unsigned n = succ->n;

	orr_lock(edge_lock());
	for (struct orr_edge *e = from->edges ? from->edges->out : NULL; e; e = e->next_out)
		arrive(e, succ);
	for (unsigned i = 0; i < n; i++)
		keep(from, orr_task_array_get(succ, i));
	orr_unlock(edge_lock());
}

void orr_task_edges_begin(struct orr_task *to)
{
	orr_lock(edge_lock());
	for (struct orr_edge *e = to->edges ? to->edges->in : NULL; e; e = e->next_in) {
		orr_assert(e->to == to && !e->awaited);
		if (e->narrived) {
			e->narrived--;
			if (__builtin_expect(orr_self()->trace != NULL, 0))
				orr_task_trace_comes_after(orr_self(), to, e->cause);
		} else {
			e->awaited = 1;
			orr_assert(ORR_ATOMIC_LOAD(&to->owner.ndeps) > 0);
			ORR_ATOMIC_ADD(&to->owner.ndeps, 1);
		}
	}
	orr_unlock(edge_lock());
}

void orr_task_edges_forget(struct orr_task *t)
{
	struct orr_task_array released = { 0 };

	orr_lock(edge_lock());
	while (t->edges->in)
		drop(t->edges->in);
	while (t->edges->out) {
		arrive(t->edges->out, &released);
		drop(t->edges->out);
	}
	orr_unlock(edge_lock());
	orr_assertf(!t->edges->nin && !t->edges->nout, "task %s is still in %u edges",
		    orr_task_name(t->pub), t->edges->nin + t->edges->nout);
	free(t->edges);
	t->edges = NULL;
	release(&released);
}
