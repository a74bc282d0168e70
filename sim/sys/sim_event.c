/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of sim_event.h: a heap, and one timer of SimGrid for its first event.
 *
 * A timer that turns out to be too early is left alone: it finds nothing to do and sets the next
 * one.
 *
 * Invariant: while the heap holds events and none of them runs, a timer is set for the first one or
 * earlier. */
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
	void *timer;
	double timer_s;
	int running;
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

static void run(void);

static void arm(void)
{
	if (!events.n || events.running)
		return;
	double date_s = events.heap[1]->date_s;
	if (events.timer && events.timer_s <= date_s)
		return;
	if (events.timer)
		orr_sim_glue_timer_cancel(events.timer);
	events.timer_s = date_s;
	events.timer = orr_sim_glue_call_at(date_s, run);
}

static void run(void)
{
	double now_s = orr_sim_clock_s();
	events.timer = NULL;
	events.running = 1;
	while (events.n && events.heap[1]->date_s <= now_s) {
		struct orr_sim_event *e = events.heap[1], *last = events.heap[events.n--];
		e->place = 0;
		if (e != last)
			move_down(last, 1);
		e->fire(e);
	}
	events.running = 0;
	arm();
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
	arm();
}
