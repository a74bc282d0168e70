/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cores: what happens when kernels and the runtime's own work want more of them than a computer has.
 *
 * Ranks on one computer share its cores (host property `computer`); every other rank has a computer of its own. While more kernels
 * run than there are cores, all of them go slower alike, as under an operating system that shares time out evenly. What the program's
 * thread and the progression of messages do while no core is free is taken from the rank's next kernel.
 * Invariant: a running kernel's end_us is the instant at which it is over if nothing starts or ends before; all running kernels of a
 * computer have the same speed, so that their order never changes. */
#include <stdlib.h>
#include "sim.h"
#include "core/worker.h"

static double speed(const struct orr_sim_cores *c)
{
	return c->busy > c->ncores ? (double) c->ncores / c->busy : 1;
}

/* Kernels on devices are not slowed down; those on CPUs may change places with them, and the heap is sorted again. */
static void stretch(struct orr_group *g, double now, double by)
{
	for (unsigned i = 0; i < g->nheap; i++) {
		struct orr_worker *w = g->heap[i];
		if (w->arch == STARPU_CPU_WORKER && w->end_us > now)
			w->end_us = now + (w->end_us - now) * by;
	}
	orr_group_sort(g);
}

/* The number of running kernels becomes `busy`. */
static void set_busy(struct orr_sim_cores *c, unsigned busy)
{
	double before = speed(c), now = orr_sys_now_us();
	c->busy = busy;
	double after = speed(c);
	if (before == after)
		return;
	for (struct orr_sim_rank *r = c->ranks; r; r = r->next_on_computer)
		for (unsigned i = 0; r->runtime_up && r->node->groups && i < r->node->ngroups; i++)
			stretch(&r->node->groups[i], now, before / after);
	if (after < before)
		return;		/* who wakes too early looks again */
	/* Waking gives the processor away: only now that everything is in order. */
	for (struct orr_sim_rank *r = c->ranks; r; r = r->next_on_computer)
		for (unsigned i = 0; r->runtime_up && r->node->groups && i < r->node->ngroups; i++)
			orr_waitq_wake(&r->node->groups[i].bell);
}

double orr_sim_cores_enter(struct orr_sim_rank *r, double us)
{
	struct orr_sim_cores *c = r->cores;
	us += r->stolen_us;
	r->stolen_us = 0;
	set_busy(c, c->busy + 1);
	return orr_sys_now_us() + us / speed(c);
}

void orr_sim_cores_leave(struct orr_sim_rank *r)
{
	set_busy(r->cores, r->cores->busy - 1);
}

void orr_sim_cores_steal(struct orr_sim_rank *r, double us)
{
	if (r->cores->busy >= r->cores->ncores)
		r->stolen_us += us;
}
