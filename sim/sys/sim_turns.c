/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The turns of actors (sim_turns.h).
 *
 * Invariant: while an actor has a turn that we gave it, SimGrid's list of actors to run is empty,
 * so that the actor comes back to us when it blocks or calls SimGrid's kernel. */
#include "sim_turns.h"

#include "sim.h"
#include "sim_event.h"
#include "sim_glue.h"
#include "base/assert.h"

static struct {
	struct orr_sim_actor *first, *last;
} turns;

void orr_sim_turns_add(struct orr_sim_actor *a)
{
	orr_assertf(!a->blocked && !a->turn_next && a != turns.last, "%s gets two turns", a->name);
	if (turns.first)
		turns.last->turn_next = a;
	else
		turns.first = a;
	turns.last = a;
}

static struct orr_sim_actor *take(void)
{
	struct orr_sim_actor *a = turns.first;
	if (!a)
		return NULL;
	turns.first = a->turn_next;
	a->turn_next = NULL;
	if (!turns.first)
		turns.last = NULL;
	return a;
}

void orr_sim_turns_forget(struct orr_sim_actor *a)
{
	struct orr_sim_actor *before = NULL, *at = turns.first;
	a->blocked = 0;
	orr_sim_event_cancel(&a->limit);
	for (; at && at != a; at = at->turn_next)
		before = at;
	if (!at)
		return;
	if (before)
		before->turn_next = a->turn_next;
	else
		turns.first = a->turn_next;
	if (turns.last == a)
		turns.last = before;
	a->turn_next = NULL;
}

void orrery_sim_round_ended(void)
{
	for (struct orr_sim_actor *a; (a = take());)
		orr_sim_glue_run_soon(a->actor);
}

/* Whether SimGrid has nothing to do for it. */
static int run(struct orr_sim_actor *a)
{
	sg_actor_t actor = a->actor;
	orr_sim_own_expect(a);
	switch (orr_sim_glue_resume(actor, (void *) (uintptr_t) a->context)) {
	case ORR_SIM_ACTOR_ENDED: return 1; /* and may be freed */
	case ORR_SIM_ACTOR_AWAY: break;
	}
	if (a->blocked)
		return 1;
	orr_sim_glue_serve_call(actor);
	return 0;
}

/* All that happens at this time. Whether SimGrid has nothing to do meanwhile. */
static int run_all(void)
{
	do {
		for (struct orr_sim_actor *a; (a = take());)
			if (!run(a))
				return 0;
	} while (orr_sim_event_run());
	return 1;
}

static int is_next(double date_s, double max_s)
{
	return date_s >= 0 && (max_s < 0 || date_s < max_s) && orr_sim_glue_quiet_until(date_s);
}

double orrery_sim_advance(const void *engine, double max_s, double (*real)(const void *, double))
{
	double start_s = orr_sim_clock_s(), next_s, delta_s;
	/* Messages that change the background load set timers, of which max_s is the first. */
	int alone = !orr_sim.on_message, ran = turns.first != NULL || orr_sim_event_due();
	if (!run_all() || (ran && !alone))
		return orr_sim_clock_s() - start_s;
	while (alone && is_next(next_s = orr_sim_event_next(), max_s)) {
		orr_sim_glue_clock_set(next_s);
		if (!orr_sim_event_run() && !turns.first)
			continue;
		if (!run_all())
			return orr_sim_clock_s() - start_s;
		ran = 1;
	}
	next_s = orr_sim_event_next();
	if (next_s < 0 || (max_s >= 0 && max_s < next_s))
		next_s = max_s;
	delta_s = real(engine, next_s);
	if (delta_s < 0 && !ran)
		return delta_s;
	return orr_sim_clock_s() - start_s;
}
