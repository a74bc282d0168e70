/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of the runtime and of the program (contract: base/seam.h). Those of engine and driver are
 * actors that exist from the start, and run one function after the other; others have an actor of
 * their own.
 *
 * Invariant: a function that was handed to an actor runs in it until it returns anything else than
 * ORR_RECESS. */
#include "actors/sim_thread.h"

#include <errno.h>
#include <stdlib.h>
#include "actors/sim_actor.h"
#include "actors/sim_bell.h"
#include "actors/sim_rank.h"
#include "actors/sim_share.h"
#include "actors/sim_private.h"
#include "sim_clock.h"
#include "base/assert.h"

static void hand_over(struct orr_sim_actor *a, void *(*fn)(void *), void *arg)
{
	orr_assert(!a->active);
	a->fn = fn;
	a->arg = arg;
	a->ret = NULL;
	a->active = 1;
	if (a->recess) {
		orr_sim_unblock(a);
		orr_sim_yield();
	} else {
		orr_waitq_wake(&a->handed);
	}
}

static void end_handed(struct orr_sim_actor *a, void *ret)
{
	orr_assert_no_lock();
	orr_assert(ret != ORR_RECESS);
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
		end_handed(a, a->fn(a->arg));
	}
}

/* The actor has its turn. Returns whether what it waited for has happened. */
static int recess_over(struct orr_sim_actor *a)
{
	enum orr_sim_recess kind = (enum orr_sim_recess) a->recess;

	orr_assertf(!a->blocked && !a->limit.number, "%s goes on without being unblocked", a->name);
	orr_assert(kind != ORR_SIM_UNUSED || a->active);
	a->recess = ORR_SIM_NO_RECESS;
	if (kind == ORR_SIM_WAITS)
		return orr_sim_wait_over(a);
	if (kind == ORR_SIM_SLEEPS && !a->timed_out && orr_sim_clock_s() < a->until_s) {
		orr_sim_recess(a, kind, a->until_s);
		return 0;
	}
	return 1;
}

void orr_sim_turn(struct orr_sim_actor *a)
{
	void *ret = NULL;

	if (!recess_over(a))
		return;
	/* Another function may be handed to it before it is done with the end of the last one. */
	while (a->active && (ret = a->fn(a->arg)) != ORR_RECESS)
		end_handed(a, ret);
	if (ret != ORR_RECESS)
		orr_sim_recess(a, ORR_SIM_UNUSED, -1);
	orr_assertf(a->recess, "%s returns as if it waited", a->name);
}

/* The last thing that an actor started by orr_sys_thread_start(USER) does: from the moment that
 * joiners are woken, a is theirs. */
void orr_sim_user_end(struct orr_sim_actor *a, void *ret)
{
	int detached = a->detached;
	orr_sim_bell_ended(a);
	if (a->fn && a->role == ORR_ROLE_USER) /* a thread of the program, no alarm */
		orr_sim_share_thread(a->rank->rank, -1);
	a->ret = ret;
	a->active = 0;
	orr_sim_actor_leave(a);
	if (!detached) {
		orr_sim_wake(&a->ended);
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
		if (role == ORR_ROLE_USER)
			orr_sim_share_thread(r->rank, 1);
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
