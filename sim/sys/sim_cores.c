/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cores: what happens when kernels and the runtime's own work want more of them than a computer has.
 *
 * Ranks on one computer share its cores (host property `computer`); every other rank has a computer of its own. While more kernels
 * run than there are cores, all of them go slower alike, as under an operating system that shares time out evenly; and so they do for
 * ranks that wait for messages, whose threads look again and again. What the program's
 * thread and the progression of messages do while no core is free is taken from the rank's next kernel.
 * Invariant: a running kernel's end_us is the instant at which it is over if nothing starts or ends before; all running kernels of a
 * computer have the same speed, so that their order never changes. */
#include <math.h>
#include <stdlib.h>
#include "sim.h"
#include "core/worker.h"
#include "mpi/mpi.h"

/* What a waiting rank takes of a core: its thread naps this long between two looks (src/sys/mpi_real.c). */
#define NAP_US 50.0
#define LEAST_LEFT 0.5

/* Of each running kernel. */
static double speed(const struct orr_sim_cores *c)
{
	double left = c->ncores, wake_us;
	if (c->busy < c->ncores || !c->ranks->node)
		return 1;
	wake_us = c->ranks->node->costs[ORR_COST_WAKE];
	left -= c->waiting * wake_us / (NAP_US + wake_us);
	return fmax(left, c->ncores * LEAST_LEFT) / c->busy;
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

/* Whether a rank without a kernel looks for messages. */
static int waits(const struct orr_sim_rank *r)
{
	return r->runtime_up && !r->nrunning && r->node->mpi && orr_mpi_busy(r->node->mpi);
}

/* So many kernels of the rank run now. */
static void set_running(struct orr_sim_rank *rank, unsigned nrunning)
{
	struct orr_sim_cores *c = rank->cores;
	double before = speed(c), now = orr_sys_now_us();
	c->busy += nrunning - rank->nrunning;
	rank->nrunning = nrunning;
	c->waiting -= (unsigned) rank->waiting;
	rank->waiting = waits(rank);
	c->waiting += (unsigned) rank->waiting;
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
	set_running(r, r->nrunning + 1);
	return orr_sys_now_us() + us / speed(c);
}

double orr_sim_cores_next_end(const struct orr_sim_rank *r)
{
	double first = INFINITY;
	for (unsigned i = 0; r->node->groups && i < r->node->ngroups; i++)
		for (unsigned k = 0; k < r->node->groups[i].nheap; k++) {
			const struct orr_worker *w = r->node->groups[i].heap[k];
			if (w->arch == STARPU_CPU_WORKER && w->end_us < first)
				first = w->end_us;
		}
	return first;
}

void orr_sim_cores_leave(struct orr_sim_rank *r)
{
	r->kernel_end_us = orr_sys_now_us();
	set_running(r, r->nrunning - 1);
}

void orr_sim_cores_steal(struct orr_sim_rank *r, double us)
{
	if (orr_sim_cores_full(r))
		r->stolen_us += us;
}
