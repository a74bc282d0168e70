/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of the simulator against a list that is searched: whatever is set, moved and taken back,
 * also while an event runs, each runs at its time and in its order, and those that may not run
 * anywhere hold back all behind them where that is asked for.
 *
 * Invariant: all events that are set are in `model`, and no others. */
#include "lib/test.h"
/* The clock is the test's. */
#define ORR_SIM_CLOCK_H
static double clock_s;
static double orr_sim_clock_s(void)
{
	return clock_s;
}
#include "actors/sim_event.c"

#define NEVENTS 700
#define NDATES 40 /* so few that many events have the same */

static struct timed {
	struct orr_sim_event event; /* first */
	int is_set;
} model[NEVENTS];

static unsigned long nran, nheld;
static uint64_t early = 1 << 30; /* orders below those of all other events */
static uint64_t seed = 1;

static unsigned any_below(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned) (seed >> 33) % n;
}

static int is_before(const struct orr_sim_event *a, const struct orr_sim_event *b)
{
	return a->date_s != b->date_s ? a->date_s < b->date_s : a->order < b->order;
}

static struct timed *first_of_model(void)
{
	struct timed *first = NULL;

	for (struct timed *t = model; t < model + NEVENTS; t++)
		if (t->is_set && (!first || is_before(&t->event, &first->event)))
			first = t;
	return first;
}

static void fire(struct orr_sim_event *e);

/* Sets, moves or takes back one of them, in a third of the cases each. */
static void change(int may_cancel)
{
	struct timed *t = &model[any_below(NEVENTS)];
	double date_s = clock_s + any_below(NDATES) * 0.125;

	if (may_cancel && !any_below(3)) {
		orr_sim_event_cancel(&t->event);
		t->is_set = 0;
	} else {
		t->event.fire = fire;
		if (!t->is_set)
			t->event.anywhere = any_below(8) > 0;
		if (any_below(4))
			orr_sim_event_set(&t->event, date_s);
		else /* as if it had been set before all others */
			orr_sim_event_set_as(&t->event, date_s, --early);
		t->is_set = 1;
	}
	CHECK(!t->is_set == !t->event.number);
}

static int held_back; /* those that may not run anywhere are */

static void fire(struct orr_sim_event *e)
{
	struct timed *t = (struct timed *) e, *first = first_of_model();

	CHECK(t->is_set && !e->number);
	CHECK(e->date_s == first->event.date_s && e->order == first->event.order,
	      "date %g, order %lu; the first has %g, %lu", e->date_s, (unsigned long) e->order,
	      first->event.date_s, (unsigned long) first->event.order);
	CHECK(e->date_s <= clock_s);
	CHECK(e->anywhere || !held_back);
	t->is_set = 0;
	nran++;
	switch (any_below(5)) {
	case 0: break;
	case 1: change(1); change(1); /* fallthrough */
	case 2: change(0); break;
	default:
		if (clock_s + 1 < 1e6) { /* the same again, as most do */
			orr_sim_event_set(e, clock_s + any_below(NDATES) * 0.125);
			t->is_set = 1;
		}
	}
	if (!any_below(16))
		CHECK((orr_sim_event_next() >= 0) == (first_of_model() != NULL));
}

/* All that is due. */
static void run(void)
{
	held_back = (int) any_below(2);
	orr_sim_event_run(held_back);
	if (!held_back) {
		CHECK(!orr_sim_event_due());
		return;
	}
	struct timed *first = first_of_model();
	if (!orr_sim_event_due())
		return;
	CHECK(!orr_sim_event_anywhere() && !first->event.anywhere);
	nheld++;
	held_back = 0;
	orr_sim_event_run(0);
}

int main(void)
{
	CHECK(orr_sim_event_next() < 0 && !orr_sim_event_due() && !orr_sim_event_anywhere());
	events.order = early;
	for (int round = 0; round < 20000; round++) {
		for (unsigned n = any_below(round % 100 < 50 ? 20 : 4); n; n--)
			change(1);
		struct timed *first = first_of_model();
		CHECK(first ? orr_sim_event_next() == first->event.date_s
			    : orr_sim_event_next() < 0);
		if (first && first->event.date_s > clock_s)
			clock_s = first->event.date_s;
		run();
	}
	for (struct timed *t = model; t < model + NEVENTS; t++)
		orr_sim_event_cancel(&t->event);
	CHECK(orr_sim_event_next() < 0);
	CHECK(nran > 20000 && nheld > 500, "%lu ran, %lu times some were held back", nran, nheld);
	return 0;
}
