/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Actors: who runs, blocking and waking, event counts, virtual time.
 *
 * Invariant: an actor is in the ring of at most one event count, and gets exactly one turn
 * (sim_turns.h) per orr_sim_block: by whoever clears `blocked`. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "actors/sim_actor.h"
#include "actors/sim_bell.h"
#include "actors/sim_fiber.h"
#include "actors/sim_glue.h"
#include "actors/sim_rank.h"
#include "actors/sim_stacks.h"
#include "actors/sim_turns.h"
#include "actors/sim_own.h"
#include "sim_clock.h"
#include "sim_noise.h"
#include "sim_progress.h"
#include "base/assert.h"

/* Answers for code that runs outside of actors (the launcher, its diagnosis, threads that kernels
 * start). Its bounds hold no stack. */
static struct orr_sim_actor outside = { .head.thread.proc = &orr_the_process };

struct orr_sim_actor_head *orr_sim_self = &outside.head;
double orr_sim_quantum_us = 1.0;

/* Returns 1 while the kernel of the actor is a part of its driver. */
static int is_part(const struct orr_sim_actor *a)
{
	return a->fiber && !a->stack;
}

struct orr_sim_actor_head *orr_sim_self_slow(void)
{
	if (__builtin_expect(orr_sim_self->owes != 0, 0))
		orr_sim_catch_up();
	struct orr_sim_actor *a = orr_sim_own_running();
	/* The driver runs, and the kernel that is a part of it. */
	if (a && (orrery_sim_asked & 1))
		return orr_sim_self;
	if (!a) {
		outside.head.costs = orr_sim.costs;
		if (orr_sim_self != &outside.head) {
			outside.head.thread.proc = orr_sim_self->thread.proc;
			outside.rank = ((struct orr_sim_actor *) orr_sim_self)->rank;
		}
		return &outside.head;
	}
	orr_sim_self = &a->head;
	orr_sim_progress_yield();
	return orr_sim_self;
}

struct orr_sim_actor *orr_sim_actor_self(void)
{
	struct orr_sim_actor *a = (struct orr_sim_actor *) orr_sim_actor_head();
	return a == &outside ? NULL : a;
}

#ifdef ORR_DEBUG
void orr_sys_lock(orr_sys_lock_t *l)
{
	if (orr_sim_self->owes)
		orr_sim_catch_up();
	orr_assertf(!l->held, "another actor holds the lock and gave the processor away");
	l->held = 1;
}

int orr_sys_trylock(orr_sys_lock_t *l)
{
	orr_sys_lock(l);
	return 1;
}

void orr_sys_unlock(orr_sys_lock_t *l)
{
	orr_assert(l->held);
	l->held = 0;
}
#endif

/* ---- yields for tests ---- */

/* A virtual time this long is longer than a ring takes, and shorter than most messages. */
#define YIELD_US 4.0

void orr_sim_yield_slow(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_assert_no_lock();
	if (!a)
		return;
	uint64_t bits = orr_sim_random(orr_sim.yields, ORR_SIM_YIELD, ++orr_sim.nyields, 0);
	switch (bits & 7) {
	case 0: orr_sim_glue_pause(a, (double) (bits >> 48) / 65536.0 * YIELD_US * 1e-6); break;
	case 1: orr_sim_glue_yield(a); orr_sim_glue_yield(a); /* fallthrough */
	case 2: orr_sim_glue_yield(a); break;
	default: break;
	}
	orr_sim_self = &a->head;
}

/* ---- blocking ---- */

/* The time ran out. */
static void limit_reached(struct orr_sim_event *e)
{
	struct orr_sim_actor *a = (void *) ((char *) e - offsetof(struct orr_sim_actor, limit));
	orr_assertf(a->blocked, "the time limit of %s was not taken back", a->name);
	a->blocked = 0;
	a->timed_out = 1;
	orr_sim_turns_add(a);
}

static void begin_block(struct orr_sim_actor *a, double deadline_s)
{
	orr_assert_no_lock();
	orr_assert(!a->blocked && !a->limit.number);
	orr_assertf(a->next_sleep || !a->put_off.n, "%s waits before it has slept", a->name);
	a->blocked = 1;
	a->timed_out = 0;
	a->limit.fire = limit_reached;
	a->limit.anywhere = 1;
	if (deadline_s >= 0)
		orr_sim_event_set(&a->limit, deadline_s);
}

double orr_sim_cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static void suspend_kernel(struct orr_sim_actor *a)
{
	double before_us = a->measured ? orr_sim_cpu_us() : 0;
	if (is_part(a)) {
		a->saved_errno = errno;
		orr_sim_fiber_leave(a->fiber);
	} else {
		orr_sim_glue_suspend(a->actor);
	}
	if (a->measured)
		a->others_us += orr_sim_cpu_us() - before_us;
}

/* Returns when the actor has its next turn. A kernel that waits for the first time parts from its
 * driver, which goes on. */
static void suspend(struct orr_sim_actor *a)
{
	if (__builtin_expect(a->in_kernel != 0, 0))
		suspend_kernel(a);
	else
		orr_sim_glue_suspend(a->actor);
}

void orr_sim_part(void)
{
	struct orr_sim_actor *a = (struct orr_sim_actor *) orr_sim_self;
	if (!(orrery_sim_asked & 1) ||
	    (uintptr_t) __builtin_frame_address(0) - a->head.stack_low >= a->head.stack_size)
		return;
	orr_sim_turns_add(a);
	suspend(a);
	orr_sim_self = &a->head;
}

int orr_sim_block(struct orr_sim_actor *a, double deadline_s)
{
	begin_block(a, deadline_s);
	if (__builtin_expect(a->deep, 0)) {
		a->deep--;
		orr_sim_stacks_trim(a);
	}
	suspend(a);
	orr_assertf(!a->blocked && !a->limit.number, "%s goes on without being unblocked", a->name);
	orr_sim_self = &a->head;
	return a->timed_out;
}

void orr_sim_unblock(struct orr_sim_actor *a)
{
	if (!a->blocked)
		return;
	a->blocked = 0;
	orr_sim_event_cancel(&a->limit);
	orr_sim_turns_add(a);
}

void orr_sim_unblock_at(struct orr_sim_actor *a, double date_s)
{
	if (date_s <= orr_sim_clock_s()) {
		orr_sim_unblock(a);
	} else if (a->blocked) {
		orr_sim_event_set(&a->limit, date_s);
	}
}

void orr_sim_recess(struct orr_sim_actor *a, enum orr_sim_recess kind, double deadline_s)
{
	orr_assert(a->borrows && !a->recess);
	begin_block(a, deadline_s);
	a->recess = (uint8_t) kind;
}

int orr_sim_block_recess(struct orr_sim_actor *a, double deadline_s)
{
	if (a->borrows)
		orr_sim_recess(a, ORR_SIM_BLOCKED, deadline_s);
	else
		orr_sim_block(a, deadline_s);
	return a->borrows;
}

/* Ringing gives the processor away, so that another request may have come when it is done. */
static void serve_ring(struct orr_sim_actor *a)
{
	while (a->ring_request) {
		a->ring_request = 0;
		orr_sim_bell_ring(a);
		orr_sim_yield();
	}
}

void orr_sim_sleep_until(struct orr_sim_actor *a, double date_s)
{
	for (serve_ring(a); orr_sim_clock_s() < date_s && !orr_sim_block(a, date_s); serve_ring(a))
		;
}

void orr_sim_sleep_through(struct orr_sim_actor *a, double (*next)(struct orr_sim_actor *))
{
	while ((a->until_s = next(a)) >= 0)
		for (serve_ring(a); orr_sim_clock_s() < a->until_s; serve_ring(a)) {
			a->next_sleep = next;
			int over = orr_sim_block(a, a->until_s);
			a->next_sleep = NULL;
			if (over)
				break;
		}
}

int orr_sim_sleeps_on(struct orr_sim_actor *a)
{
	if (__builtin_expect(!a->next_sleep, 1) || !a->timed_out || a->ring_request)
		return 0;
	do
		if ((a->until_s = a->next_sleep(a)) < 0)
			return 0;
	while (a->until_s <= orr_sim_clock_s());
	begin_block(a, a->until_s);
	return 1;
}

void orr_sim_park(struct orr_sim_actor *a)
{
	orr_lock_abandon();
	for (;;) {
		serve_ring(a);
		orr_sim_block(a, -1);
	}
}

double orr_sim_date_of_us(double us)
{
	double s = us * 1e-6;
	while (s * 1e6 < us)
		s = nextafter(s, INFINITY);
	return s;
}

/* ---- event counts: actors wait on their stacks, or in a recess ---- */

/* The list of an event count is a ring, and the count names its last actor: thousands wait for the
 * end of a barrier. */
static void link_blocked(orr_waitq_t *q, struct orr_sim_actor *a)
{
	orr_assertf(!a->wait_next, "%s is in a list already", a->name);
	a->wait_next = q->blocked ? q->blocked->wait_next : a;
	if (q->blocked)
		q->blocked->wait_next = a;
	q->blocked = a;
}

static void unlink_blocked(orr_waitq_t *q, struct orr_sim_actor *a)
{
	struct orr_sim_actor *before = q->blocked;
	while (before->wait_next != a)
		before = before->wait_next;
	before->wait_next = a->wait_next;
	if (q->blocked == a)
		q->blocked = before != a ? before : NULL;
	a->wait_next = NULL;
}

static void begin(struct orr_sim_actor *a, struct orr_sim_wait *w, orr_waitq_t *q, unsigned key,
		  double timeout_us)
{
	orr_assert_no_lock();
	double now_us = orr_sys_now_us();
	w->q = q;
	w->key = key;
	w->expired = 0;
	w->busy_until_us = now_us + a->head.thread.debt_us;
	w->deadline_s = timeout_us < 0 ? -1 : orr_sim_date_of_us(now_us + timeout_us);
	orr_sim_yield();
}

/* Returns 1 if the actor has to block: it is in the ring then. */
static int must_block(struct orr_sim_actor *a, struct orr_sim_wait *w)
{
	while (w->q->seq == w->key && !w->expired) {
		if (a->ring_request) {
			serve_ring(a);
		} else if (w->deadline_s >= 0 && w->deadline_s < orr_sim_clock_s()) {
			/* Ringing may have taken until after the limit, and SimGrid refuses such
			 * timers. */
			w->expired = 1;
		} else {
			link_blocked(w->q, a);
			return 1;
		}
	}
	return 0;
}

static void unblocked(struct orr_sim_actor *a, struct orr_sim_wait *w, int expired)
{
	w->expired = expired;
	if (a->wait_next)
		unlink_blocked(w->q, a);
	orr_sim_yield();
}

static int end(struct orr_sim_actor *a, const struct orr_sim_wait *w)
{
	orr_waitq_cancel(w->q);
	/* Work that was charged before the wait went on while it waited. */
	double rest_us = w->busy_until_us - orr_sys_now_us();
	a->head.thread.debt_us = rest_us > 0 ? rest_us : 0;
	return w->expired && w->q->seq == w->key;
}

int orr_waitq_wait(orr_waitq_t *q, unsigned key, double timeout_us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	struct orr_sim_wait w;
	orr_assert(a);
	begin(a, &w, q, key, timeout_us);
	while (must_block(a, &w))
		unblocked(a, &w, orr_sim_block(a, w.deadline_s));
	return end(a, &w);
}

/* Returns 1 if the wait is over; else the actor is in a recess. */
static int is_over(struct orr_sim_actor *a)
{
	if (must_block(a, &a->wait)) {
		orr_sim_recess(a, ORR_SIM_WAITS, a->wait.deadline_s);
		return 0;
	}
	end(a, &a->wait);
	return 1;
}

int orr_sim_wait_over(struct orr_sim_actor *a)
{
	unblocked(a, &a->wait, a->timed_out);
	return is_over(a);
}

int orr_waitq_recess(orr_waitq_t *q, unsigned key, double timeout_us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_assert(a);
	if (!a->borrows) {
		orr_waitq_wait(q, key, timeout_us);
		return 0;
	}
	begin(a, &a->wait, q, key, timeout_us);
	return !is_over(a);
}

void orr_sim_wake(orr_waitq_t *q)
{
	struct orr_sim_actor *last = q->blocked, *next;
	q->seq++;
	q->blocked = NULL;
	if (!last)
		return;
	next = last->wait_next;
	last->wait_next = NULL;
	/* An actor whose time ran out, or that was unblocked for a ring, has its turn already. */
	for (struct orr_sim_actor *a; (a = next);) {
		next = a->wait_next;
		a->wait_next = NULL;
		orr_sim_unblock(a);
	}
}

void orr_waitq_wake_slow(orr_waitq_t *q)
{
	orr_sim_wake(q);
	orr_sim_yield();
}

/* ---- clock ---- */

int orr_sys_now_ns_init(void)
{
	return 0;
}

double orr_sys_origin_us(void)
{
	return 0;
}

static void sleep_us(struct orr_sim_actor *a, double us)
{
	us += a->head.thread.debt_us;
	a->head.thread.debt_us = 0;
	orr_sim_sleep_until(a, orr_sim_date_of_us(orr_sys_now_us() + us));
}

void orr_sys_sleep_us(double us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_assert_no_lock();
	if (!a || us <= 0)
		return;
	/* A callback that sleeps delays the next kernel; the other workers of its node go on. */
	if (a->head.carries_debt && a->head.thread.task && !a->in_kernel) {
		a->head.thread.debt_us += us;
		return;
	}
	a->slept = 1;
	sleep_us(a, us);
}

/* ---- beginning and end ---- */

static void actor_main(struct orr_sim_actor *a)
{
	/* SimGrid's own frames above ours take less than a page. */
	uintptr_t top = (uintptr_t) __builtin_frame_address(0) + 256;
	a->head.stack_low = top - a->head.stack_size + 4096;
	a->head.stack_size -= 4096;
	a->actor = sg_actor_self();
	orr_sim_self = &a->head;
	orr_sim.nstacks++;
	orr_sim_own_enter(a);
	a->code(a);
}

static struct orr_sim_actor *actor_new(size_t size, struct orr_sim_rank *r, enum orr_role role,
				       const char *name)
{
	struct orr_sim_actor *a = calloc(1, size);
	if (!a) {
		errno = ENOMEM;
		return NULL;
	}
	a->head.thread.proc = r->proc;
	a->head.thread.sys = a;
	a->head.costs = r->proc->costs;
	a->head.carries_debt = role == ORR_ROLE_WORKERS;
	a->rank = r;
	a->role = role;
	snprintf(a->name, sizeof(a->name), "%s", name);
	return a;
}

struct orr_sim_actor *orr_sim_actor_start(struct orr_sim_rank *r, enum orr_role role,
					  const char *name, const char *instance, size_t stack,
					  void (*code)(struct orr_sim_actor *))
{
	struct orr_sim_actor *a = actor_new(sizeof(*a), r, role, name);
	if (!a)
		return NULL;
	a->code = code;
	a->head.stack_size = stack;
	a->can_ring = instance && role != ORR_ROLE_ENGINE;
	int rank = role == ORR_ROLE_USER ? r->place : r->rank; /* in the instance */
	a->actor = orr_sim_glue_start(a, name, r->host, instance, rank, stack, actor_main);
	return a;
}

struct orr_sim_actor *orr_sim_actor_borrower(struct orr_sim_rank *r, enum orr_role role,
					     const char *name, void (*turn)(struct orr_sim_actor *))
{
	struct orr_sim_actor *a = actor_new(sizeof(*a), r, role, name);
	if (!a)
		return NULL;
	a->code = turn;
	a->borrows = 1;
	orr_sim_recess(a, ORR_SIM_UNUSED, -1);
	return a;
}

struct orr_sim_actor *orr_sim_actor_kernels(struct orr_sim_rank *r, size_t size,
					    void (*turn)(struct orr_sim_actor *))
{
	struct orr_sim_actor *a = actor_new(size, r, ORR_ROLE_WORKERS, "workers");
	if (!a)
		return NULL;
	a->code = turn;
	a->borrows = 1;
	return a;
}

void orr_sim_actor_leave(struct orr_sim_actor *a)
{
	outside.head.thread.proc = a->head.thread.proc;
	orr_sim_own_leave(a);
	orr_sim_self = &outside.head;
}

/* ---- polls ---- */

/* From 0.1 us up to 10 us, the longer the more often in a row. */
void orr_sim_polled(struct orr_sim_actor *a)
{
	double us = 0.1 * (1 + a->npolls);
	if (us < 10)
		a->npolls++;
	orr_assert_no_lock();
	sleep_us(a, us);
}

void orr_sys_polled(double until_us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a)
		return;
	double now_us = orr_sys_now_us();
	if (until_us < 0) {
		orr_sim_polled(a);
		return;
	}
	a->npolls = 0;
	orr_sim_sleep_until(a, orr_sim_date_of_us(fmax(until_us, now_us)));
}

void orr_sys_yield(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_assert_no_lock();
	if (!a)
		return;
	orr_sim_glue_yield(a);
}
