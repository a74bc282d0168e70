/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The turns of actors (sim_turns.h) without private names of SimGrid.
 *
 * One actor of SimGrid's, the conductor, gives all turns. Engines, drivers, kernels that wait and
 * threads of the program are fibers, which it runs on stacks of their own. The main actors of ranks
 * are actors of SimGrid's, because SMPI knows them by that: each has a semaphore on which it waits
 * for its turn, and the conductor waits until the turn is over. When nothing is left to do at this
 * time, the conductor sleeps until the next event, in SimGrid.
 *
 * A main actor that calls MPI gives its turn back, and asks for another one when the call is over.
 *
 * Virtual time is a variable here: SimGrid takes no shorter steps than its precision, so that its
 * own clock may be that much ahead.
 *
 * Invariant: our code and the program's run only in the conductor, which runs a fiber or waits for
 * the end of a turn, and in the actor that has this turn. */
#include <math.h>
#include <stdlib.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/semaphore.h>
#include <smpi/smpi.h>
#include "actors/sim_actor.h"
#include "actors/sim_event.h"
#include "actors/sim_fiber.h"
#include "actors/sim_glue.h"
#include "actors/sim_guard.h"
#include "actors/sim_own.h"
#include "actors/sim_rank.h"
#include "actors/sim_turns.h"
#include "public/public.h"
#include "sim_clock.h"
#include "base/assert.h"
#include "base/log.h"

/* SimGrid's clock is at most so far from ours. */
#define APART_S 1e-8

/* The place of an actor of SimGrid's. */
struct seat {
	sg_sem_t turn;
};

/* A stack that an actor has, and its fiber. */
struct orr_sim_stack {
	struct orr_sim_fiber *fiber;
	void (*code)(struct orr_sim_actor *); /* of a thread, which has it to its end; else NULL */
	int gone;                             /* its actor has ended in the midst of it */
	struct orr_sim_stack *next;           /* of those that nobody has */
};

struct orr_sim_called orr_sim_called;
/* Read by its name in sim_clock.h. */
double orr_sim_public_now_s;

static struct {
	struct orr_sim_actor *first, *last;
} turns;
static struct orr_sim_stack *unused, *unused_threads;
static struct orr_sim_stack *current; /* whose fiber runs, NULL: none */
static struct orr_sim_actor *runner;  /* who has that stack */
static struct orr_sim_actor *guest;   /* of SimGrid's, that has its turn */
static sg_sem_t bell;                 /* of the conductor */
static int sleeping;                  /* it waits for an event, or for somebody who asks */
static unsigned nwaiting;             /* actors that wait for something of SimGrid's */
static struct orr_sim_context conductor;
static MPI_Comm placeholder; /* MPI_COMM_WORLD in SMPI */
static MPI_Comm nobodys;     /* the same, where ranks have copies of the world */
static double began_s = -1;  /* SimGrid's clock at the beginning of our time, negative: before */
static struct orr_sim_event start;

/* ---- the list ---- */

void orr_sim_turns_add(struct orr_sim_actor *a)
{
	orr_assertf(!a->blocked && !a->turn_next && a != turns.last, "%s gets two turns", a->name);
	if (turns.first)
		turns.last->turn_next = a;
	else
		turns.first = a;
	turns.last = a;
}

static struct orr_sim_actor *turns_take(void)
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
	orr_fatal("%s is killed", a->name);
}

/* The actor (NULL: none) goes on. In its code MPI_COMM_WORLD is its rank's, a copy or the
 * placeholder (mpi.c). In SMPI's it is the placeholder, or a communicator of nobody's where there
 * are copies: SMPI's algorithms that treat ranks of one node apart look for their communicators in
 * the wrong place where the world is the placeholder, and is not what they work on. */
static void become(struct orr_sim_actor *a)
{
	orr_sim_own_become(a);
	if (a)
		MPI_COMM_WORLD = a->rank->world ? a->rank->world : placeholder;
	else
		MPI_COMM_WORLD = nobodys ? nobodys : placeholder;
}

MPI_Comm orr_sim_public_placeholder(void)
{
	return placeholder;
}

/* ---- fibers ---- */

static struct orr_sim_stack *stack_new(void)
{
	struct orr_sim_stack *s = unused;
	if (s)
		unused = s->next;
	else
		s = malloc(sizeof(*s));
	if (s)
		*s = (struct orr_sim_stack){ 0 };
	return s;
}

/* An actor that borrows gets a stack, from the same ones as kernels. */
static void lend(struct orr_sim_actor *a)
{
	struct orr_sim_stack *s = stack_new();
	struct orr_sim_fiber *f = orr_sim_fiber_unused;
	if (!f) {
		f = orr_sim_fiber_make(orr_sim.stack_small);
		orr_sim.nstacks++;
	}
	if (!s || !f)
		orr_fatal("out of memory for another stack; simulate fewer nodes");
	orr_sim_fiber_take(f);
	s->fiber = f;
	a->stack = s;
	a->actor = sg_actor_self();
	a->head.stack_low = f->low;
	a->head.stack_size = f->size;
}

static void take_back(struct orr_sim_actor *a)
{
	struct orr_sim_stack *s = a->stack;
	orr_sim_fiber_put(s->fiber);
	s->next = unused;
	unused = s;
	a->stack = NULL;
	a->actor = NULL;
	a->head.stack_size = 0;
}

int orr_sim_public_thread(struct orr_sim_actor *a, size_t stack,
			  void (*code)(struct orr_sim_actor *))
{
	struct orr_sim_stack **at = &unused_threads, *s;
	while (*at && (*at)->fiber->size < stack)
		at = &(*at)->next;
	if ((s = *at)) {
		*at = s->next;
	} else {
		s = stack_new();
		if (!s || !(s->fiber = orr_sim_fiber_make(stack)))
			return 0;
		orr_sim_fiber_take(s->fiber);
	}
	s->code = code;
	s->gone = 0;
	a->stack = s;
	orr_sim_turns_add(a);
	/* It begins before its creator goes on, as an actor of SimGrid's does. */
	if (orr_sim_actor_self())
		orr_sim_glue_yield(orr_sim_actor_self());
	return 1;
}

static void on_stack(void **none, void *arg)
{
	struct orr_sim_actor *a = arg;
	(void) none;
	orr_sim_self = &a->head;
	(current->code ? current->code : a->code)(a);
}

/* The actor may be freed when this returns. */
static void run_fiber(struct orr_sim_actor *a)
{
	struct orr_sim_stack *s;
	if (!a->stack)
		lend(a);
	s = current = a->stack;
	runner = a;
	become(a);
	int over = s->fiber->over ? orr_sim_fiber_begin(s->fiber, on_stack, NULL, a)
				  : orr_sim_fiber_continue(s->fiber);
	current = NULL;
	become(NULL);
	if (s->gone)
		orr_sim_fiber_give_up(s->fiber);
	if (s->code && (over || s->gone)) {
		s->next = unused_threads;
		unused_threads = s;
	} else if (over) {
		take_back(a);
	}
}

void orr_sim_glue_exit(void)
{
	if (!current)
		sg_actor_exit();
	current->gone = 1;
	orr_sim_fiber_leave(current->fiber);
	abort();
}

/* ---- actors of SimGrid's ---- */

static void give_back(void)
{
	become(NULL);
	guest = NULL;
	sg_sem_release(bell);
}

static void await_turn(struct orr_sim_actor *a)
{
	struct seat *s = a->seat;
	sg_sem_acquire(s->turn);
	orr_assert(guest == a);
	become(a);
	orr_sim_self = &a->head;
}

static void ask(struct orr_sim_actor *a)
{
	orr_sim_turns_add(a);
	orr_sim_public_outside();
	await_turn(a);
}

void orr_sim_public_arrive(struct orr_sim_actor *a)
{
	struct seat *s = calloc(1, sizeof(*s));
	if (!s)
		orr_fatal("out of memory for another actor; simulate fewer nodes");
	s->turn = sg_sem_init(0);
	a->seat = s;
	ask(a);
}

void orr_sim_public_away(struct orr_sim_actor *a)
{
	orr_assert(guest == a);
	nwaiting++;
	give_back();
}

void orr_sim_public_back(struct orr_sim_actor *a)
{
	nwaiting--;
	ask(a);
}

static void run_guest(struct orr_sim_actor *a)
{
	struct seat *s = a->seat;
	guest = a;
	sg_sem_release(s->turn);
	while (guest)
		sg_sem_acquire(bell);
}

/* ---- what both do ---- */

void orr_sim_glue_suspend(sg_actor_t actor)
{
	(void) actor;
	if (current) {
		orr_sim_fiber_leave(current->fiber);
		return;
	}
	struct orr_sim_actor *a = guest;
	orr_assert(a);
	give_back();
	await_turn(a);
}

/* Kernels run in an actor's turn, which lets others run for them. */
static struct orr_sim_actor *whose_turn(void)
{
	return current ? runner : guest;
}

void orr_sim_glue_yield(struct orr_sim_actor *a)
{
	orr_sim_turns_add(whose_turn());
	orr_sim_glue_suspend(NULL);
	orr_sim_self = &a->head;
}

struct pause {
	struct orr_sim_event end; /* first */
	struct orr_sim_actor *a;
};

static void pause_ends(struct orr_sim_event *e)
{
	orr_sim_turns_add(((struct pause *) e)->a);
}

void orr_sim_glue_pause(struct orr_sim_actor *a, double s)
{
	struct pause p = { .end.fire = pause_ends, .a = whose_turn() };
	orr_sim_event_set(&p.end, orr_sim_clock_s() + s);
	orr_sim_glue_suspend(NULL);
	orr_sim_self = &a->head;
}

/* ---- time ---- */

/* SimGrid's, from our beginning on. */
static double clock_s(void)
{
	return began_s < 0 ? 0 : simgrid_get_clock() - began_s;
}

static void all_start(struct orr_sim_event *e)
{
	(void) e;
	for (int i = 0; i < orr_sim.nranks; i++)
		orr_sim_unblock(orr_sim.ranks[i].main);
}

void orr_sim_public_begin(void)
{
	began_s = simgrid_get_clock();
	start.fire = all_start;
	orr_sim_event_set(&start, 0);
}

/* Never beyond an event of ours. */
static void follow(void)
{
	double now_s = clock_s(), next_s = orr_sim_event_next();
	if (next_s >= 0 && now_s > next_s)
		now_s = next_s;
	if (now_s > orr_sim_public_now_s)
		orr_sim_public_now_s = now_s;
}

void orr_sim_public_outside(void)
{
	follow();
	if (!sleeping)
		return;
	sleeping = 0;
	sg_sem_release(bell);
}

void orr_sim_glue_clock_set(double date_s)
{
	orr_sim_public_now_s = date_s;
}

/* A function of SimGrid's that lets time pass was called in a turn: all others have missed it. */
static void check_clock(void)
{
	if (clock_s() > orr_sim_public_now_s + APART_S)
		orr_fatal(
			"a function of SimGrid's was called that lets virtual time pass; call sleep() or MPI instead, "
			"or build Orrery with --with-simgrid-interface=private");
}

void orr_sim_public_waits(int by)
{
	nwaiting += (unsigned) by;
}

static void sleep_until_next(void)
{
	double next_s = orr_sim_event_next();
	double left_s = next_s - clock_s();
	sleeping = 1;
	if (next_s < 0)
		sg_sem_acquire(bell);
	else if (left_s > 0)
		sg_sem_acquire_timeout(bell, left_s);
	int is_time = sleeping && next_s >= 0 && clock_s() > next_s - APART_S;
	sleeping = 0;
	if (!is_time)
		return;
	orr_sim_public_now_s = next_s;
	/* Ends in SimGrid come before events of ours at the same time. */
	if (nwaiting)
		sg_actor_yield();
}

void orr_sim_public_conduct(void)
{
	bell = sg_sem_init(0);
	placeholder = MPI_COMM_WORLD;
	if (orr_sim_public_late) {
		MPI_COMM_WORLD = MPI_COMM_NULL;
		PMPI_Comm_dup(MPI_COMM_SELF, &nobodys);
		MPI_COMM_WORLD = nobodys;
	}
	orr_sim_own_know(&conductor);
	for (;;) {
		orr_sim_public_arrived();
		do {
			for (struct orr_sim_actor *a; (a = turns_take());) {
				if (a->seat)
					run_guest(a);
				else
					run_fiber(a);
			}
		} while (orr_sim_event_run(0));
		check_clock();
		orr_sim_public_leave();
		/* Those that have asked meanwhile did not see it sleep. */
		if (!turns.first && !orr_sim_public_any_arrived())
			sleep_until_next();
	}
}
