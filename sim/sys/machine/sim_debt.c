/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time that the runtime itself takes (contract: base/seam.h): an actor sleeps for what it was
 * charged, and takes a core meanwhile. A driver's debt is a part of the next kernel instead
 * (sim_kernel.c).
 *
 * Invariant: an actor that sleeps for its debt, or waits for more than that, has none. */
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

/* The date until which the actor has to sleep for its debt, which it has no more; negative: none.
 */
static double pay(struct orr_sim_actor *a)
{
	orr_sim_yield();
	if (a->head.carries_debt || !a->head.thread.sys) /* outside of actors */
		return -1;
	double us = a->head.thread.debt_us;
	a->head.thread.debt_us = 0;
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
