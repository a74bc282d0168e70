/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time that the runtime itself takes (contract: base/seam.h): an actor sleeps for what it was
 * charged, and takes a core meanwhile. A driver's debt is a part of the next kernel instead
 * (sim_kernel.c).
 *
 * A program's thread that inserts other ranks' tasks changes nothing that anybody else sees. So it
 * goes on for some quanta, and sleeps for all of them then, each as it would have in its time:
 * 1,024 ranks that took turns at each quantum would find nothing of their data in the caches.
 *
 * Invariant: an actor that sleeps for its debt, or waits for more than that, has none, and owes no
 * sleeps. */
#include <math.h>
#include "actors/sim_actor.h"
#include "actors/sim_share.h"
#include "machine/sim_cores.h"
#include "sim_clock.h"

/* The three sizes that calibration knows are powers of two; between them the cost grows with the
 * logarithm of the size, and beyond them it stays. */
void orr_sys_charge_reload(struct orr_thread *t, size_t bytes)
{
	const double *costs = ((struct orr_sim_actor_head *) t)->costs;
	double doubled = log2(fmax((double) bytes, 1)), small = 10, medium = 16, large = 20;
	double us = costs[ORR_COST_RELOAD], more_us = fmax(costs[ORR_COST_RELOAD_LARGE] - us, 0);
	if (doubled < medium)
		us *= fmax(doubled - small, 0) / (medium - small);
	else
		us += more_us * fmin(doubled - medium, large - medium) / (large - medium);
	t->debt_us += us;
}

/* Sleeps that are put off at most: the ranks' turns are long enough then. */
#define MOST_PUT_OFF 64

/* The date until which the actor has to sleep for so much. */
static inline double pay_us(struct orr_sim_actor *a, double us)
{
	if (a->role == ORR_ROLE_USER && us > 0)
		us += orr_sim_cores_turn(a->rank, us);
	else
		orr_sim_cores_steal(a->rank, us);
	double now_us = orr_sys_now_us();
	return orr_sim_date_of_us(
		a->role == ORR_ROLE_USER
			? orr_sim_share_until_us(a->rank->rank, a->rank->ncpus, now_us, us)
			: now_us + us);
}

/* The date until which the actor has to sleep for its debt, which it has no more; negative: none.
 */
static __attribute__((noinline)) double pay(struct orr_sim_actor *a)
{
	orr_sim_yield();
	if (a->head.carries_debt || !a->head.thread.sys) /* outside of actors */
		return -1;
	double us = a->head.thread.debt_us;
	a->head.thread.debt_us = 0;
	return pay_us(a, us);
}

/* The date until which it has to sleep for the first quantum of those that it owes. */
static double next_sleep(struct orr_sim_actor *a)
{
	struct orr_sim_put_off *p = &a->put_off;
	if (!p->n)
		return -1;
	double us = p->first_us;
	p->first_us = p->us;
	p->n--;
	return pay_us(a, us);
}

static void catch_up(struct orr_sim_actor *a)
{
	orr_assert(a->put_off.n && !a->head.stack_size);
	a->head.stack_size = a->head.owes;
	a->head.owes = 0;
	orr_sim_sleep_through(a, next_sleep);
	orr_assert(!a->put_off.n);
}

/* Handlers of signals, the launcher and its threads have other stacks. */
void orr_sim_catch_up(void)
{
	struct orr_sim_actor *a = (struct orr_sim_actor *) orr_sim_self;
	if ((uintptr_t) __builtin_frame_address(0) - a->head.stack_low < a->head.owes)
		catch_up(a);
}

void orr_sim_settle_later_slow(struct orr_thread *t)
{
	struct orr_sim_actor *a = (struct orr_sim_actor *) t;
	struct orr_sim_put_off *p = &a->put_off;
	if (a->role != ORR_ROLE_USER || a->borrows || !t->sys || orr_sim.yields) {
		orr_sim_settle_slow(t);
		return;
	}
	/* The others are alike. */
	if (p->n > 1 && t->debt_us != p->us)
		catch_up(a);
	if (p->n)
		p->us = t->debt_us;
	else
		p->first_us = t->debt_us;
	t->debt_us = 0;
	if (!p->n++) {
		a->head.owes = a->head.stack_size;
		a->head.stack_size = 0;
	}
	if (p->n == MOST_PUT_OFF)
		catch_up(a);
}

void orr_sim_settle_slow(struct orr_thread *t)
{
	struct orr_sim_actor *a = (struct orr_sim_actor *) t;
	double until_s = pay(a);
	if (until_s >= 0)
		orr_sim_sleep_until(a, until_s);
}

double orr_sim_settle_ahead(struct orr_thread *t)
{
	return t->debt_us > orr_sim_quantum_us ? pay((struct orr_sim_actor *) t) : -1;
}

int orr_sim_settle_recess(struct orr_thread *t)
{
	struct orr_sim_actor *a = (struct orr_sim_actor *) t;
	if (!a->borrows) {
		orr_sim_settle_slow(t);
		return 0;
	}
	a->until_s = pay(a);
	if (orr_sim_clock_s() >= a->until_s)
		return 0;
	orr_sim_recess(a, ORR_SIM_SLEEPS, a->until_s);
	return 1;
}
