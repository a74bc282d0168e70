/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The turns of actors, and the stacks that they borrow for them (sim_turns.h).
 *
 * Invariant: while an actor has a turn that we gave it, SimGrid's list of actors to run is empty,
 * so that the actor comes back to us when it blocks or calls SimGrid's kernel. */
#include "actors/sim_turns.h"

#include <stdlib.h>
#include "actors/sim_actor.h"
#include "actors/sim_event.h"
#include "actors/sim_glue.h"
#include "actors/sim_guard.h"
#include "actors/sim_rank.h"
#include "actors/sim_own.h"
#include "base/assert.h"
#include "base/log.h"

struct turns {
	struct orr_sim_actor *first, *last;
};

/* A stack that actors borrow: an actor of SimGrid's. */
struct orr_sim_stack {
	struct orr_sim_context context; /* and the actor that has it now, NULL: nobody */
	sg_actor_t actor;
	uintptr_t low; /* it is [low, low + size) */
	size_t size;
	struct turns then;          /* who gets it next in this round of SimGrid's */
	struct orr_sim_stack *next; /* of those that nobody has */
	struct orr_sim_stack *next_lent;
};

struct orr_sim_called orr_sim_called;

static struct turns turns;
/* Stacks whose first actor SimGrid runs in its present round. */
static struct orr_sim_stack *lent, **lent_end = &lent;
static struct orr_sim_stack *unused; /* that nobody has */
static int alone; /* the actor that runs got its turn here, not in a round of SimGrid's */
static double advance_max_s; /* virtual time may go so far meanwhile; negative: no limit */

/* Answers of SimGrid, which hold until somebody else than our own turns and events runs:
 * these start none of its activities. */
static struct {
	int known;
	double profile_s; /* its next change; negative: none */
} quiet;

static void append(struct turns *l, struct orr_sim_actor *a)
{
	if (l->first)
		l->last->turn_next = a;
	else
		l->first = a;
	l->last = a;
}

static struct orr_sim_actor *turns_take(struct turns *l)
{
	struct orr_sim_actor *a = l->first;
	if (!a)
		return NULL;
	l->first = a->turn_next;
	a->turn_next = NULL;
	if (!l->first)
		l->last = NULL;
	return a;
}

void orr_sim_turns_add(struct orr_sim_actor *a)
{
	orr_assertf(!a->blocked && !a->turn_next && a != turns.last, "%s gets two turns", a->name);
	append(&turns, a);
}

void orr_sim_turns_forget(struct orr_sim_actor *a)
{
	struct orr_sim_actor *before = NULL, *at = turns.first;
	a->blocked = 0;
	a->put_off.n = 0;
	orr_assert(!a->head.owes);
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

/* ---- stacks ---- */

/* The same, of those who do not sleep on. */
static struct orr_sim_actor *turns_next(void)
{
	struct orr_sim_actor *a = turns_take(&turns);
	while (a && orr_sim_sleeps_on(a))
		a = turns_take(&turns);
	return a;
}

/* Returns 1 if it needs one for its turn. */
static int needs_stack(const struct orr_sim_actor *a)
{
	return a->borrows && !a->stack;
}

/* SimGrid does nothing until then. */
static int is_quiet_until(double date_s)
{
	if (!quiet.known) {
		quiet.known = orr_sim_glue_is_quiet();
		quiet.profile_s = orr_sim_glue_profile_next();
	}
	orr_assert(!quiet.known ||
		   (orr_sim_glue_is_quiet() && quiet.profile_s == orr_sim_glue_profile_next()));
	return quiet.known && (quiet.profile_s < 0 || quiet.profile_s > date_s);
}

static int is_next(double date_s, double max_s)
{
	return date_s >= 0 && (max_s < 0 || date_s < max_s) && is_quiet_until(date_s);
}

/* The next step of the caller of all turns, done on a stack that has just been given back: the
 * events that may run there, and those to which virtual time may jump. Returns 0 if somebody else
 * has to go on. */
static int events_on(void)
{
	double next_s = orr_sim_event_next();
	if (!orr_sim_event_anywhere())
		return 0;
	if (next_s > orr_sim_clock_s()) {
		if (orr_sim.on_message || !is_next(next_s, advance_max_s))
			return 0;
		orr_sim_glue_clock_set(next_s);
	}
	return orr_sim_event_run(1);
}

/* The actor that has the next turn, if it needs a stack, and this one, which has just been given
 * back, may be lent to it at once. NULL: not so. */
static struct orr_sim_actor *next_on(struct orr_sim_stack *s)
{
	if (!alone)
		return turns_take(&s->then);
	if (!turns.first) {
		sg_actor_set_data(s->actor, NULL);
		orr_sim_own_become(NULL);
		while (!turns.first && events_on())
			;
	}
	return turns.first && needs_stack(turns.first) ? turns_take(&turns) : NULL;
}

static void give(struct orr_sim_stack *s, struct orr_sim_actor *a)
{
	orr_assert(a->borrows && !a->stack && !s->context.actor);
	s->context.actor = a;
	a->stack = s;
	a->actor = s->actor;
	a->context.key = s->context.key;
	a->head.stack_low = s->low;
	a->head.stack_size = s->size;
	sg_actor_set_data(s->actor, a);
}

static void take_back(struct orr_sim_stack *s)
{
	struct orr_sim_actor *a = s->context.actor;
	s->context.actor = NULL;
	a->stack = NULL;
	a->actor = NULL;
	a->context.key = 0;
	a->head.stack_size = 0;
}

/* Waits until somebody is lent the stack. */
static void rest(struct orr_sim_stack *s)
{
	sg_actor_set_data(s->actor, NULL);
	orr_sim_own_become(NULL);
	s->next = unused;
	unused = s;
	orr_sim_glue_suspend(s->actor);
	orr_assert(s->context.actor);
}

/* The code of SimGrid's actor. `first` is the actor that the stack was made for. */
static void run_on(struct orr_sim_actor *first)
{
	struct orr_sim_stack *s = first->stack;
	/* SimGrid's own frames above ours take less than a page. */
	uintptr_t top = (uintptr_t) __builtin_frame_address(0) + 256;
	s->size = orr_sim.stack_small - 4096;
	s->low = top - s->size;
	s->actor = sg_actor_self();
	s->context.actor = NULL;
	first->stack = NULL;
	orr_sim_own_know(&s->context);
	orr_sim_glue_allow_types();
	orr_sim.nstacks++;
	for (struct orr_sim_actor *a = first;; a = next_on(s)) {
		if (a)
			give(s, a);
		else
			rest(s);
		a = s->context.actor;
		orr_sim_self = &a->head;
		orr_sim_own_become(a);
		a->code(a);
		take_back(s);
	}
}

/* The actor, which has its turn, gets a stack. Returns 0 if that is a new one: SimGrid runs it in
 * its next round. */
static int stack_lend(struct orr_sim_actor *a)
{
	struct orr_sim_stack *s = unused;
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			orr_fatal("out of memory for another stack; simulate fewer nodes");
		s->context.actor = a;
		a->stack = s;
		orr_sim_glue_start(a, "stack", a->rank->host, NULL, 0, orr_sim.stack_small, run_on);
		return 0;
	}
	unused = s->next;
	give(s, a);
	return 1;
}

/* ---- rounds of SimGrid's, and our own ---- */

/* Those who did not get their stack, because somebody waits who has it, come first in the next
 * round. */
static void take_again(void)
{
	struct turns behind = turns;
	struct orr_sim_actor *a;
	turns = (struct turns){ 0 };
	for (; lent; lent = lent->next_lent)
		while ((a = turns_take(&lent->then)))
			append(&turns, a);
	lent_end = &lent;
	while ((a = turns_take(&behind)))
		append(&turns, a);
}

/* The place in SimGrid's round of an actor that needs a stack, and of those who get it then. */
static struct orr_sim_stack *lend(struct orr_sim_actor *a)
{
	int is_new = !stack_lend(a);
	*lent_end = a->stack;
	lent_end = &a->stack->next_lent;
	a->stack->next_lent = NULL;
	if (!is_new)
		orr_sim_glue_run_soon(a->actor);
	return a->stack;
}

void orrery_sim_round_ended(void)
{
	struct orr_sim_stack *s = NULL;
	orr_sim_called.end_actions = 1;
	if (lent)
		take_again();
	for (struct orr_sim_actor *a; (a = turns_next());) {
		if (!needs_stack(a)) {
			s = NULL;
			orr_sim_glue_run_soon(a->actor);
		} else if (s) {
			append(&s->then, a);
		} else {
			s = lend(a);
		}
	}
}

/* Returns 1 if SimGrid has nothing to do for it, or for the actors that had its stack next. */
static int run(struct orr_sim_actor *a)
{
	if (needs_stack(a) && !stack_lend(a))
		return 0;
	struct orr_sim_stack *s = a->stack;
	sg_actor_t actor = a->actor;
	orr_sim_own_expect(a);
	quiet.known = 0;
	alone = 1;
	enum orr_sim_resumed how = orr_sim_glue_resume(actor, (void *) (uintptr_t) a->context.key);
	alone = 0;
	if (how == ORR_SIM_ACTOR_ENDED)
		return 1; /* and a may be freed */
	if (s)
		a = s->context.actor;
	if (!a || a->blocked)
		return 1;
	orr_sim_glue_serve_call(actor);
	return 0;
}

/* The events that are due, some of which call SimGrid's kernel. Returns 1 if there were any. */
static int run_events(void)
{
	quiet.known = 0;
	return orr_sim_event_run(0);
}

/* All that happens at this time. Returns 1 if SimGrid has nothing to do meanwhile. */
static int run_all(void)
{
	do {
		for (struct orr_sim_actor *a; (a = turns_next());)
			if (!run(a))
				return 0;
	} while (run_events());
	return 1;
}

/* The date that SimGrid may go to. It changes links ahead of their time where none of its own
 * activities needs them, and would miss what the models of the network then plan before that date:
 * it stops at each change. */
static double stop(double max_s)
{
	double next_s = orr_sim_event_next(), profile_s = orr_sim_glue_profile_next();
	if (next_s < 0 || (max_s >= 0 && max_s < next_s))
		next_s = max_s;
	return profile_s >= orr_sim_clock_s() && profile_s < next_s ? profile_s : next_s;
}

double orrery_sim_advance(const void *engine, double max_s, double (*real)(const void *, double))
{
	double start_s = orr_sim_clock_s(), next_s, delta_s;
	/* Messages that change the background load set timers, of which max_s is the first. */
	int unseen = !orr_sim.on_message, ran = turns.first != NULL || orr_sim_event_due();
	orr_sim_called.solve = 1;
	quiet.known = 0;
	advance_max_s = max_s;
	if (!run_all() || (ran && !unseen))
		return orr_sim_clock_s() - start_s;
	while (unseen && is_next(next_s = orr_sim_event_next(), max_s)) {
		orr_sim_glue_clock_set(next_s);
		if (!run_events() && !turns.first)
			continue;
		if (!run_all())
			return orr_sim_clock_s() - start_s;
		ran = 1;
	}
	delta_s = real(engine, stop(max_s));
	if (delta_s < 0 && !ran)
		return delta_s;
	return orr_sim_clock_s() - start_s;
}
