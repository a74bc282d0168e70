/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of sim_event.h: a heap, each place of which has FAN below it. The places hold what is
 * compared, because the events themselves lie anywhere in the memory of a large simulation.
 *
 * Invariant: no event of the heap is older than the virtual time, but while it runs; the date and
 * order of an event that is set are those of its place. */
#include <math.h>
#include <stdlib.h>
#include "actors/sim_event.h"
#include "sim_clock.h"
#include "base/assert.h"
#include "base/log.h"

#define FAN 4

struct place {
	double date_s;
	uint64_t order;
	struct orr_sim_event *event;
};

static struct {
	struct place *heap; /* from [1] on */
	unsigned n, cap;
	uint64_t order;
} events;

static int before(const struct place *a, const struct place *b)
{
	return a->date_s != b->date_s ? a->date_s < b->date_s : a->order < b->order;
}

static unsigned above(unsigned place)
{
	return (place + FAN - 2) / FAN;
}

static void put(const struct place *p, unsigned place)
{
	events.heap[place] = *p;
	p->event->place = place;
}

static void move_up(struct place p, unsigned place)
{
	for (; place > 1 && before(&p, &events.heap[above(place)]); place = above(place))
		put(&events.heap[above(place)], place);
	put(&p, place);
}

/* The first of the places below, 0: there is none. */
static unsigned first_below(unsigned place)
{
	unsigned first = FAN * (place - 1) + 2, end = first + FAN;

	if (first > events.n)
		return 0;
	if (end > events.n + 1)
		end = events.n + 1;
	for (unsigned i = first + 1; i < end; i++)
		if (before(&events.heap[i], &events.heap[first]))
			first = i;
	return first;
}

static void move_down(struct place p, unsigned place)
{
	for (unsigned child; (child = first_below(place)); place = child) {
		if (!before(&events.heap[child], &p))
			break;
		put(&events.heap[child], place);
	}
	put(&p, place);
}

/* The place of an event that leaves is filled by the last one. */
static void take_out(struct orr_sim_event *e)
{
	unsigned place = e->place;

	orr_assert(place && place <= events.n && events.heap[place].event == e);
	struct place last = events.heap[events.n--];
	e->place = 0;
	if (last.event == e)
		return;
	if (place > 1 && before(&last, &events.heap[above(place)]))
		move_up(last, place);
	else
		move_down(last, place);
}

double orr_sim_event_next(void)
{
	return events.n ? events.heap[1].date_s : -1;
}

int orr_sim_event_due(void)
{
	return events.n && events.heap[1].date_s <= orr_sim_clock_s();
}

int orr_sim_event_run(void)
{
	int any = 0;
	for (; orr_sim_event_due(); any = 1) {
		struct orr_sim_event *e = events.heap[1].event;
		take_out(e);
		if (events.n)
			__builtin_prefetch(events.heap[1].event);
		e->fire(e);
	}
	return any;
}

static unsigned last_place(void)
{
	if (events.n + 1 >= events.cap) {
		events.cap = events.cap ? 2 * events.cap : 64;
		events.heap = realloc(events.heap, events.cap * sizeof(*events.heap));
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
	struct place old = { e->date_s, e->order, e }, new = { date_s, order, e };

	orr_assert(date_s >= orr_sim_clock_s() && !isinf(date_s));
	e->date_s = date_s;
	e->order = order;
	if (e->place && before(&old, &new))
		move_down(new, e->place);
	else
		move_up(new, e->place ? e->place : last_place());
}

void orr_sim_event_cancel(struct orr_sim_event *e)
{
	if (e->place)
		take_out(e);
}
