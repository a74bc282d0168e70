/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of sim_event.h: a heap.
 *
 * Invariant: no event of the heap is older than the virtual time, but while it runs. */
#include <math.h>
#include <stdlib.h>
#include "sim_event.h"
#include "sim_glue.h"
#include "base/assert.h"
#include "base/log.h"

static struct {
	struct orr_sim_event **heap; /* from [1] on */
	unsigned n, cap;
	uint64_t order;
} events;

static int before(const struct orr_sim_event *a, const struct orr_sim_event *b)
{
	return a->date_s != b->date_s ? a->date_s < b->date_s : a->order < b->order;
}

static void put(struct orr_sim_event *e, unsigned place)
{
	events.heap[place] = e;
	e->place = place;
}

static void move_up(struct orr_sim_event *e, unsigned place)
{
	for (; place > 1 && before(e, events.heap[place / 2]); place /= 2)
		put(events.heap[place / 2], place);
	put(e, place);
}

static void move_down(struct orr_sim_event *e, unsigned place)
{
	for (unsigned child; (child = 2 * place) <= events.n; place = child) {
		if (child < events.n && before(events.heap[child + 1], events.heap[child]))
			child++;
		if (!before(events.heap[child], e))
			break;
		put(events.heap[child], place);
	}
	put(e, place);
}

/* The place of an event that leaves is filled by the last one. */
static void take_out(struct orr_sim_event *e)
{
	struct orr_sim_event *last = events.heap[events.n--];
	unsigned place = e->place;
	e->place = 0;
	if (e == last)
		return;
	if (place > 1 && before(last, events.heap[place / 2]))
		move_up(last, place);
	else
		move_down(last, place);
}

double orr_sim_event_next(void)
{
	return events.n ? events.heap[1]->date_s : -1;
}

int orr_sim_event_due(void)
{
	return events.n && events.heap[1]->date_s <= orr_sim_clock_s();
}

int orr_sim_event_run(void)
{
	int any = 0;
	for (; orr_sim_event_due(); any = 1) {
		struct orr_sim_event *e = events.heap[1];
		take_out(e);
		e->fire(e);
	}
	return any;
}

static unsigned last_place(void)
{
	if (events.n + 1 >= events.cap) {
		events.cap = events.cap ? 2 * events.cap : 64;
		events.heap = realloc(events.heap, events.cap * sizeof(struct orr_sim_event *));
		if (!events.heap)
			orr_fatal("out of memory for %u events; simulate fewer nodes", events.cap);
	}
	return ++events.n;
}

uint64_t orr_sim_event_order(void)
{
	return ++events.order;
}

void orr_sim_event_set(struct orr_sim_event *e, double date_s)
{
	orr_sim_event_set_as(e, date_s, orr_sim_event_order());
}

void orr_sim_event_set_as(struct orr_sim_event *e, double date_s, uint64_t order)
{
	struct orr_sim_event old = *e;
	orr_assert(date_s >= orr_sim_clock_s() && !isinf(date_s));
	e->date_s = date_s;
	e->order = order;
	if (e->place && before(&old, e))
		move_down(e, e->place);
	else
		move_up(e, e->place ? e->place : last_place());
}

void orr_sim_event_cancel(struct orr_sim_event *e)
{
	if (e->place)
		take_out(e);
}
