/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Actors: who runs, blocking and waking, event counts, threads, virtual time.
 *
 * Invariant: an actor is in the ring of at most one event count, and gets exactly one turn
 * (sim_turns.h) per orr_sim_block: by whoever clears `blocked`. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include "sim.h"
#include "sim_turns.h"
#include "base/assert.h"

/* Answers for code that runs outside of actors (the launcher, its diagnosis, threads that kernels
 * start). Its bounds hold no stack. */
static struct orr_sim_actor outside = { .head.thread.proc = &orr_the_process };

struct orr_sim orr_sim;
struct orr_sim_actor_head *orr_sim_self = &outside.head;
double orr_sim_quantum_us = 1.0;

struct orr_sim_actor_head *orr_sim_self_slow(void)
{
	sg_actor_t self = sg_actor_self();
	struct orr_sim_actor *a = self ? sg_actor_get_data(self) : NULL;
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
	case 0: sg_actor_sleep_for((double) (bits >> 48) / 65536.0 * YIELD_US * 1e-6); break;
	case 1: sg_actor_yield(); sg_actor_yield(); /* fallthrough */
	case 2: sg_actor_yield(); break;
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

int orr_sim_block(struct orr_sim_actor *a, double deadline_s)
{
	orr_assert_no_lock();
	orr_assert(!a->blocked && !a->limit.place);
	a->blocked = 1;
	a->timed_out = 0;
	a->limit.fire = limit_reached;
	if (deadline_s >= 0)
		orr_sim_event_set(&a->limit, deadline_s);
	orr_sim_glue_suspend(a->actor);
	orr_assertf(!a->blocked && !a->limit.place, "%s goes on without being unblocked", a->name);
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

/* Ringing gives the processor away, so that another request may have come when it is done. */
static void serve_ring(struct orr_sim_actor *a)
{
	while (a->ring_request) {
		a->ring_request = 0;
		orr_sim_mpi_ring_from(a);
		orr_sim_yield();
	}
}

static void sleep_until(struct orr_sim_actor *a, double date_s)
{
	for (serve_ring(a); orr_sim_clock_s() < date_s && !orr_sim_block(a, date_s); serve_ring(a))
		;
}

void orr_sim_park(struct orr_sim_actor *a)
{
	orr_lock_abandon();
	for (;;) {
		serve_ring(a);
		orr_sim_block(a, -1);
	}
}

/* The earliest time in seconds at which the clock shows at least us microseconds. */
static double date_of_us(double us)
{
	double s = us * 1e-6;
	while (s * 1e6 < us)
		s = nextafter(s, INFINITY);
	return s;
}

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

int orr_waitq_wait(orr_waitq_t *q, unsigned key, double timeout_us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_assert_no_lock();
	orr_assert(a);
	double now_us = orr_sys_now_us();
	double busy_until_us = now_us + a->head.thread.debt_us;
	double deadline_s = timeout_us < 0 ? -1 : date_of_us(now_us + timeout_us);
	int expired = 0;
	orr_sim_yield();
	while (q->seq == key && !expired) {
		if (a->ring_request) {
			serve_ring(a);
			continue;
		}
		/* Ringing may have taken until after the limit, and SimGrid refuses such timers. */
		if (deadline_s >= 0 && deadline_s < orr_sim_clock_s()) {
			expired = 1;
			break;
		}
		link_blocked(q, a);
		expired = orr_sim_block(a, deadline_s);
		if (a->wait_next)
			unlink_blocked(q, a);
		orr_sim_yield();
	}
	orr_waitq_cancel(q);
	/* Work that was charged before the wait went on while it waited. */
	double rest_us = busy_until_us - orr_sys_now_us();
	a->head.thread.debt_us = rest_us > 0 ? rest_us : 0;
	return expired && q->seq == key;
}

static void wake(orr_waitq_t *q)
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
	wake(q);
	orr_sim_yield();
}

/* ---- clock ---- */

double orr_sys_now_us(void)
{
	return orr_sim_clock_s() * 1e6;
}

double orr_sys_origin_us(void)
{
	return 0;
}

void orr_sys_sleep_us(double us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_assert_no_lock();
	if (!a || us <= 0)
		return;
	/* A kernel that sleeps lasts longer; the other workers of its node go on. One with a thread
	 * of its own (a rank of a parallel task) sleeps. */
	if (a->in_kernel || (a->role == ORR_ROLE_WORKERS && a->head.thread.task)) {
		a->extra_us += us;
		return;
	}
	us += a->head.thread.debt_us;
	a->head.thread.debt_us = 0;
	sleep_until(a, date_of_us(orr_sys_now_us() + us));
}

void orr_sim_settle_slow(struct orr_thread *t)
{
	struct orr_sim_actor *a = (struct orr_sim_actor *) t;
	orr_sim_yield();
	if (a->head.carries_debt || a == &outside)
		return;
	double us = t->debt_us;
	t->debt_us = 0;
	orr_sim_cores_steal(a->rank, us);
	sleep_until(a, date_of_us(orr_sys_now_us() + us));
}

/* ---- threads ---- */

static void actor_main(struct orr_sim_actor *a)
{
	/* SimGrid's own frames above ours take less than a page. */
	uintptr_t top = (uintptr_t) __builtin_frame_address(0) + 256;
	a->head.stack_low = top - a->head.stack_size + 4096;
	a->head.stack_size -= 4096;
	a->actor = sg_actor_self();
	orr_sim_self = &a->head;
	orr_sim_own_enter(a);
	a->code(a);
}

struct orr_sim_actor *orr_sim_actor_start(struct orr_sim_rank *r, enum orr_role role,
					  const char *name, const char *instance, size_t stack,
					  void (*code)(struct orr_sim_actor *))
{
	struct orr_sim_actor *a = calloc(1, sizeof(*a));
	if (!a) {
		errno = ENOMEM;
		return NULL;
	}
	a->code = code;
	a->head.thread.proc = r->proc;
	a->head.thread.sys = a;
	a->head.stack_size = stack;
	a->head.costs = r->proc->costs;
	a->head.carries_debt = role == ORR_ROLE_WORKERS;
	a->rank = r;
	a->role = role;
	a->can_ring = instance && role != ORR_ROLE_ENGINE;
	snprintf(a->name, sizeof(a->name), "%s", name);
	int rank = role == ORR_ROLE_USER ? r->place : r->rank; /* in the instance */
	a->actor = orr_sim_glue_start(a, name, r->host, instance, rank, stack, actor_main);
	return a;
}

static void hand_over(struct orr_sim_actor *a, void *(*fn)(void *), void *arg)
{
	orr_assert(!a->active);
	a->fn = fn;
	a->arg = arg;
	a->ret = NULL;
	a->active = 1;
	orr_waitq_wake(&a->handed);
}

static void run_handed(struct orr_sim_actor *a)
{
	void *ret = a->fn(a->arg);

	orr_assert_no_lock();
	a->head.thread.worker = NULL;
	a->head.thread.ctx = a->head.thread.idle_ctx = 0;
	a->head.thread.memnode = STARPU_MAIN_RAM;
	a->head.thread.task = NULL;
	a->head.thread.debt_us = 0;
	a->ret = ret;
	a->active = 0;
	orr_waitq_wake(&a->ended);
}

static void await_function(struct orr_sim_actor *a)
{
	while (!a->active) {
		unsigned key = orr_waitq_prepare(&a->handed);
		orr_waitq_wait(&a->handed, key, -1);
	}
}

void orr_sim_serve(struct orr_sim_actor *a)
{
	for (;;) {
		await_function(a);
		run_handed(a);
	}
}

/* The last thing that an actor started by orr_sys_thread_start(USER) does: from the moment that
 * joiners are woken, a is theirs. */
void orr_sim_user_end(struct orr_sim_actor *a, void *ret)
{
	int detached = a->detached;
	orr_sim_mpi_actor_end(a);
	a->ret = ret;
	a->active = 0;
	outside.head.thread.proc = a->head.thread.proc;
	orr_sim_own_leave(a);
	orr_sim_self = &outside.head;
	if (!detached) {
		wake(&a->ended);
		return;
	}
	free(a);
}

static void user_thread(struct orr_sim_actor *a)
{
	/* It may run before its creator goes on. */
	await_function(a);
	void *ret = a->fn(a->arg);
	orr_sim_private_end(a->rank, &a->own);
	orr_sim_user_end(a, ret);
}

static struct orr_sim_rank *rank_of(struct orr_process *proc)
{
	return proc->sys ? proc->sys : orr_sim_actor_self()->rank;
}

orr_sys_thread_t *orr_sys_thread_start(struct orr_process *proc, enum orr_role role,
				       const char *name, int cpu, void *(*fn)(void *), void *arg)
{
	struct orr_sim_rank *r = rank_of(proc);
	struct orr_sim_actor *a = role == ORR_ROLE_ENGINE ? r->engine : r->driver;
	(void) cpu;
	orr_assert_no_lock();
	/* One actor steps all workers, unless the program drives some of them itself. */
	int another = role == ORR_ROLE_WORKERS && a->active;
	if (role == ORR_ROLE_USER || another) {
		a = orr_sim_actor_start(r, role, name ? name : "thread", NULL,
					another ? orr_sim.stack_small : orr_sim.stack_main,
					user_thread);
		if (!a)
			return NULL;
	} else if (a->active) {
		errno = EBUSY;
		return NULL;
	}
	hand_over(a, fn, arg);
	return (orr_sys_thread_t *) a;
}

void *orr_sys_thread_join(orr_sys_thread_t *t)
{
	struct orr_sim_actor *a = (struct orr_sim_actor *) t;
	orr_assert_no_lock();
	for (;;) {
		unsigned key = orr_waitq_prepare(&a->ended);
		if (!a->active) {
			orr_waitq_cancel(&a->ended);
			break;
		}
		orr_waitq_wait(&a->ended, key, -1);
	}
	void *ret = a->ret;
	if (a != a->rank->engine && a != a->rank->driver) {
		free(a);
	}
	return ret;
}

/* From 0.1 us up to 10 us, the longer the more often in a row. */
void orr_sim_polled(struct orr_sim_actor *a)
{
	double us = 0.1 * (1 + a->npolls);
	if (us < 10)
		a->npolls++;
	orr_sys_sleep_us(us);
}

void orr_sys_polled(double until_us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	double now_us = orr_sys_now_us();
	if (!a)
		return;
	if (until_us < 0) {
		orr_sim_polled(a);
		return;
	}
	a->npolls = 0;
	sleep_until(a, date_of_us(fmax(until_us, now_us)));
}

void orr_sys_yield(void)
{
	orr_assert_no_lock();
	if (orr_sim_actor_self())
		sg_actor_yield();
}

unsigned orr_sys_ngroups(unsigned nworkers)
{
	return nworkers ? 1 : 0;
}

double orr_sys_spin_us(struct orr_process *proc)
{
	(void) proc;
	return 0;
}

unsigned orr_sys_cores(struct orr_process *proc)
{
	const struct orr_sim_cores *c = rank_of(proc)->cores;
	unsigned nranks = 0;
	for (const struct orr_sim_rank *r = c->ranks; r; r = r->next_on_computer)
		nranks++;
	return (c->ncores + nranks - 1) / nranks;
}

/* ---- the end of a rank ---- */

/* Sends SIGALRM to the process after 5 s of wall time. */
static void end_all_soon(void)
{
	struct itimerval soon = { .it_value = { .tv_sec = 5 } };
	syscall(SYS_setitimer, ITIMER_REAL, &soon, NULL);
}

void orr_sim_rank_end(struct orr_sim_rank *r, int status)
{
	if (r->ended)
		return;
	r->ended = 1;
	r->status = status;
	r->end_us = orr_sys_now_us();
	orr_sim.nended++;
	orr_assert(orr_sim.nended <= orr_sim.nranks);
	if (status && !orr_sim.status) {
		orr_sim.status = status;
		orr_sim.status_rank = r->rank;
		orr_sim_progress_clear();
		if (orr_sim.nranks > 1)
			fprintf(stderr,
				"orrery sim: the program of rank %d ended with status %d after %.6f s of virtual time\n",
				r->rank, status, r->end_us * 1e-6);
		/* As with mpirun, the others do not outlive it for long, even when they poll. */
		if (orr_sim.nended < orr_sim.nranks)
			end_all_soon();
	}
	if (orr_sim.nended == orr_sim.nranks)
		orr_sim.finish(orr_sim.status);
}
