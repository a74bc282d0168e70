/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of sim_event.h: a heap, each place of which has FAN below it, in one line of the
 * cache. The places hold what is compared, and a table says where each event is, because the events
 * themselves lie anywhere in the memory of a large simulation: none is touched but the one that is
 * meant.
 *
 * Invariant: no event of the heap is older than the virtual time, but while it runs; the date and
 * order of an event that is set are those of its place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "actors/sim_event.h"
#include "sim_clock.h"
#include "base/assert.h"
#include "base/log.h"

#define FAN 4
#define LINE 64
#define NUMBER_BITS 24 /* of events that are set at a time; the rest of a word counts orders */

/* The date, which is not negative, so that its bits are ordered as it is; and the order, with the
 * event's number in its low bits. Both are compared as one number, without a branch, which would be
 * guessed wrong half of the time. */
struct place {
	uint64_t order, date;
};

/* Of an event that is set, by its number. */
struct seat {
	struct orr_sim_event *event; /* NULL: nobody has the number; place is the next such one */
	unsigned place;
};

static struct {
	struct place *heap; /* from [1] on; those below one place share a line */
	struct seat
		*seats; /* from [1] on; [0].place is a number that nobody has, 0: there is none */
	unsigned n, cap;
	int hole; /* nobody has place 1: the event that has it next is most often set just now */
	unsigned below; /* the first of the places below the hole, 0: there is none */
	uint64_t order;
} events;

static unsigned before(struct place a, struct place b)
{
	return ((unsigned __int128) a.date << 64 | a.order) <
	       ((unsigned __int128) b.date << 64 | b.order);
}

static struct place place_of(const struct orr_sim_event *e)
{
	struct place p = { .order = e->order << NUMBER_BITS | e->number };

	memcpy(&p.date, &e->date_s, sizeof(p.date));
	return p;
}

static unsigned number_at(unsigned place)
{
	return (unsigned) events.heap[place].order & ((1U << NUMBER_BITS) - 1);
}

static unsigned above(unsigned place)
{
	return (place + FAN - 2) / FAN;
}

static void put(struct place p, unsigned place)
{
	events.heap[place] = p;
	events.seats[number_at(place)].place = place;
}

static void move_up(struct place p, unsigned place)
{
	for (; place > 1 && before(p, events.heap[above(place)]); place = above(place))
		put(events.heap[above(place)], place);
	put(p, place);
}

/* The first of the places below, 0: there is none. */
static unsigned first_below(unsigned place)
{
	unsigned first = FAN * (place - 1) + 2, last = first + FAN - 1;
	const struct place *h = events.heap;

	if (last <= events.n) {
		unsigned left = first + before(h[first + 1], h[first]);
		unsigned right = first + 2 + before(h[last], h[first + 2]);
		return before(h[right], h[left]) ? right : left;
	}
	if (first > events.n)
		return 0;
	for (unsigned i = first + 1; i <= events.n; i++)
		first = before(h[i], h[first]) ? i : first;
	return first;
}

/* child: the first below that place. */
static void move_down(struct place p, unsigned place, unsigned child)
{
	while (child && before(events.heap[child], p)) {
		put(events.heap[child], place);
		place = child;
		child = first_below(place);
	}
	put(p, place);
}

/* ---- numbers ---- */

static void number_give_back(struct orr_sim_event *e)
{
	events.seats[e->number] = (struct seat){ .place = events.seats[0].place };
	events.seats[0].place = e->number;
	e->number = 0;
}

static void grow(void)
{
	unsigned cap = events.cap ? 2 * events.cap : 64;
	/* heap[2], and with it the first place below each, begins a line. */
	size_t skip = LINE / sizeof(struct place) - 2;
	struct place *room = aligned_alloc(LINE, (cap + LINE) * sizeof(*room));
	struct seat *seats = realloc(events.seats, cap * sizeof(*seats));

	if (!room || !seats || cap > 1U << NUMBER_BITS)
		orr_fatal("out of memory for %u events; simulate fewer nodes", cap);
	if (events.cap) {
		memcpy(room + skip, events.heap, events.cap * sizeof(*room));
		free(events.heap - skip);
	}
	for (unsigned i = cap - 1; i >= (events.cap ? events.cap : 1); i--) {
		seats[i] = (struct seat){ .place = i == cap - 1 ? 0 : i + 1 };
		seats[0].place = i;
	}
	events.heap = room + skip;
	events.seats = seats;
	events.cap = cap;
}

static void number_take(struct orr_sim_event *e)
{
	if (!events.cap || !events.seats[0].place)
		grow();
	e->number = events.seats[0].place;
	orr_assert(e->number && !events.seats[e->number].event);
	events.seats[0].place = events.seats[e->number].place;
	events.seats[e->number].event = e;
}

/* The place of an event that leaves is filled by the last one. */
static void fill(unsigned place)
{
	struct place last = events.heap[events.n--];

	if (place > events.n)
		return;
	if (place > 1 && before(last, events.heap[above(place)]))
		move_up(last, place);
	else
		move_down(last, place, first_below(place));
}

static void fill_hole(void)
{
	if (!events.hole)
		return;
	events.hole = 0;
	if (events.below == events.n)
		fill(1); /* the first below is the last of all, and leaves its place */
	else if (events.below)
		move_down(events.heap[events.n--], 1, events.below);
	else
		events.n = 0;
}

/* ---- what is due ---- */

double orr_sim_event_next(void)
{
	double date_s;

	fill_hole();
	if (!events.n)
		return -1;
	memcpy(&date_s, &events.heap[1].date, sizeof(date_s));
	return date_s;
}

/* The first event, if it is due. */
static struct orr_sim_event *due(void)
{
	double now_s = orr_sim_clock_s();
	uint64_t now;

	fill_hole();
	memcpy(&now, &now_s, sizeof(now));
	if (!events.n || events.heap[1].date > now)
		return NULL;
	return events.seats[number_at(1)].event;
}

int orr_sim_event_due(void)
{
	return due() != NULL;
}

int orr_sim_event_anywhere(void)
{
	fill_hole();
	return events.n && events.seats[number_at(1)].event->anywhere;
}

int orr_sim_event_run(int anywhere)
{
	struct orr_sim_event *e;
	int any = 0;

	for (; (e = due()) && (!anywhere || e->anywhere); any = 1) {
		orr_assert(e->number == number_at(1));
		number_give_back(e);
		events.hole = 1;
		events.below = first_below(1);
		if (events.below)
			__builtin_prefetch(events.seats[number_at(events.below)].event);
		e->fire(e);
	}
	return any;
}

/* ---- what is set ---- */

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
	struct place old = place_of(e);
	int is_new = !e->number;

	orr_assert(date_s >= orr_sim_clock_s() && !isinf(date_s));
	orr_assert(order < UINT64_MAX >> NUMBER_BITS);
	if (is_new)
		number_take(e);
	else
		fill_hole();
	e->date_s = date_s + 0.0; /* no negative zero */
	e->order = order;
	unsigned place = events.seats[e->number].place;
	if (is_new && events.hole) {
		events.hole = 0;
		move_down(place_of(e), 1, events.below);
	} else if (is_new)
		move_up(place_of(e), ++events.n);
	else if (before(old, place_of(e)))
		move_down(place_of(e), place, first_below(place));
	else
		move_up(place_of(e), place);
}

void orr_sim_event_cancel(struct orr_sim_event *e)
{
	if (!e->number)
		return;
	fill_hole();
	unsigned place = events.seats[e->number].place;

	orr_assert(place && place <= events.n && number_at(place) == e->number);
	number_give_back(e);
	fill(place);
}
