/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cores: what happens when kernels and the runtime's own work want more of them than a computer
 * has.
 *
 * Ranks on one computer share its cores (host property `computer`); every other rank has a computer
 * of its own. While more kernels run than there are cores, all of them go slower alike, as under an
 * operating system that shares time out evenly; and so they do for ranks that wait for messages,
 * whose threads look again and again, and for messages that such ranks receive. What the program's
 * thread and the progression of messages do while no core is free is otherwise taken from the
 * rank's next kernel. If it was measured how long threads keep a core from others (turn_us), the
 * program's thread takes its turns: a worker is without a core for so long at once, and the program
 * waits in between for as long as its fair part takes.
 *
 * Invariant: a running kernel's end_us is the instant at which it is over if nothing starts or ends
 * before; all that runs on a computer has the same speed, so that its order never changes;
 * `done_us` is how much of it was done by `since_us`. */
#include <math.h>
#include <stdlib.h>
#include "machine/sim_cores.h"
#include "base/patience.h"
#include "base/park.h"
#include "base/upcalls.h"
#include "sim_noise.h"
#include "sim.h"

#define LEAST_LEFT 0.5

/* Of each running kernel. A rank that waits for messages takes a part of a core: its thread wakes,
 * polls and naps in turn. */
static double speed(const struct orr_sim_cores *c)
{
	double left = c->ncores - c->waiting * c->wake_us / (ORR_PATIENCE_NAP_US + c->wake_us);
	return c->busy < c->ncores ? 1 : fmax(left, c->ncores * LEAST_LEFT) / c->busy;
}

/* True if a rank without a kernel looks for messages. */
static int waits(const struct orr_sim_rank *r)
{
	const struct orr_mpi_upcalls *up = r->proc->mpi_up;
	return r->runtime_up && !r->nrunning && !r->receiving && up && up->expects(r->proc);
}

/* The work of something that always ran, from the beginning until now. */
static double done_us(const struct orr_sim_cores *c)
{
	return c->done_us + (orr_sys_now_us() - c->since_us) * speed(c);
}

/* So many kernels of the rank run now, and so many messages are being received beside them. */
static void set_running(struct orr_sim_rank *rank, unsigned nrunning, unsigned receiving)
{
	struct orr_sim_cores *c = rank->cores;
	double before = speed(c), now = orr_sys_now_us();

	orr_assert(c->busy >= rank->nrunning + rank->receiving && now >= c->since_us);
	c->done_us = done_us(c);
	c->since_us = now;
	c->busy += nrunning - rank->nrunning + receiving - rank->receiving;
	rank->nrunning = nrunning;
	rank->receiving = receiving;
	c->wake_us = rank->proc->costs[ORR_COST_WAKE];
	c->waiting = 0;
	for (struct orr_sim_rank *r = c->ranks; r; r = r->next_on_computer)
		c->waiting += (unsigned) waits(r);
	double after = speed(c);
	orr_assert(after > 0 && after <= 1);
	if (before == after)
		return;
	for (struct orr_sim_rank *r = c->ranks; r; r = r->next_on_computer)
		if (r->runtime_up)
			r->proc->core_up->stretch(r->proc, now, before / after);
	if (after < before)
		return; /* who wakes too early looks again */
	/* Waking gives the processor away: only now that everything is in order. */
	for (struct orr_sim_rank *r = c->ranks; r; r = r->next_on_computer)
		if (r->runtime_up)
			orr_park_wake_all(r->proc);
}

/* True if workers poll for messages between kernels just now. */
static int workers_poll(const struct orr_sim_rank *r)
{
	const struct orr_mpi_upcalls *up = r->proc->mpi_up;
	return up && up->workers_look(r->proc) && up->expects(r->proc);
}

/* A thread that looks after messages meanwhile takes the core, again and again. */
static double patrols_us(const struct orr_sim_rank *r, double us)
{
	if (!workers_poll(r))
		return 0;
	return floor(us / ORR_PATIENCE_PATROL_US) * r->proc->costs[ORR_COST_WAKE];
}

/* ---- the program's turns ---- */

/* Begins the next one. */
static void end_turn(struct orr_sim_rank *r)
{
	r->turn.taken_us += r->turn.used_us;
	r->turn.used_us = 0;
	r->turn.left_us = r->proc->costs[ORR_COST_TURN];
}

/* The first turn of a rank ends somewhere in it: ranks that submit alike would take theirs at the
 * same instants otherwise, which nothing makes them do. */
static void begin_turns(struct orr_sim_rank *r)
{
	uint64_t bits = orr_sim_random(orr_sim.noise.seed, ORR_SIM_TURN, (uint64_t) r->rank, 0);
	r->turn.begun = 1;
	r->turn.left_us = r->proc->costs[ORR_COST_TURN] * (double) (bits >> 11) / 0x1p53;
}

double orr_sim_cores_turn(struct orr_sim_rank *r, double us)
{
	const struct orr_sim_cores *c = r->cores;
	double turn_us = r->proc->costs[ORR_COST_TURN];

	if (!(turn_us > 0)) {
		orr_sim_cores_steal(r, us);
		return 0;
	}
	if (!orr_sim_cores_full(r)) {
		if (!r->turn.alone)
			r->turn.alone_us = orr_sys_now_us();
		r->turn.alone = 1;
		r->turn.since_us = orr_sys_now_us() + us;
		return 0;
	}
	r->turn.alone = 0;
	if (!r->turn.begun)
		begin_turns(r);
	r->turn.used_us += us;
	r->turn.since_us = orr_sys_now_us() + us;
	if (r->turn.used_us < r->turn.left_us)
		return 0;
	double used_us = r->turn.used_us;
	end_turn(r);
	/* Those that want the cores get equal parts of them. */
	return used_us * (c->busy + 1 - c->ncores) / c->ncores;
}

double orr_sim_cores_wait_us(const struct orr_sim_rank *r)
{
	const struct orr_sim_cores *c = r->cores;
	double turn_us = r->proc->costs[ORR_COST_TURN], now_us = orr_sys_now_us();

	if (!(turn_us > 0) || !r->turn.alone || c->busy + 1 < c->ncores ||
	    now_us > r->turn.since_us)
		return 0;
	return turn_us - fmod(fmax(now_us - r->turn.alone_us, 0), turn_us);
}

/* ---- kernels ---- */

double orr_sim_cores_enter(struct orr_sim_rank *r, double us, double *others_us, double *turns_us)
{
	struct orr_sim_cores *c = r->cores;
	double stolen_us = r->stolen_us;

	orr_assert(us >= 0 && stolen_us >= 0);
	r->stolen_us = 0;
	/* A turn that was the last one. */
	if (r->turn.used_us > 0 &&
	    orr_sys_now_us() - r->turn.since_us > r->proc->costs[ORR_COST_TURN])
		end_turn(r);
	double taken_us = r->turn.taken_us;
	r->turn.taken_us = 0;
	set_running(r, r->nrunning + 1, r->receiving);
	if (orr_sim_cores_full(r))
		stolen_us += patrols_us(r, us + stolen_us);
	*others_us += stolen_us / speed(c);
	*turns_us = taken_us / speed(c);
	r->turn.until_us = orr_sys_now_us() + *turns_us;
	return orr_sys_now_us() + (us + stolen_us + taken_us) / speed(c);
}

/* A worker that looks after messages between two kernels does not, if one has done so just before.
 */
static void look(struct orr_sim_rank *r)
{
	double look_us = r->proc->costs[ORR_COST_LOOK], now = orr_sys_now_us();
	if (!(look_us > 0) || !workers_poll(r) || now - r->looked_us < ORR_PATIENCE_WORKER_US)
		return;
	r->looked_us = now;
	orr_sim_cores_steal(r, look_us);
}

void orr_sim_cores_leave(struct orr_sim_rank *r)
{
	orr_assertf(r->nrunning > 0, "a kernel ends on rank %d, where none runs", r->rank);
	look(r);
	set_running(r, r->nrunning - 1, r->receiving);
}

void orr_sim_cores_receive(struct orr_sim_rank *r, double us)
{
	struct orr_sim_cores *c = r->cores;
	set_running(r, r->nrunning, r->receiving + 1);
	double left_us = us, until_us = done_us(c) + us;
	/* Others come and go meanwhile. */
	while (left_us > 1e-3) {
		orr_sys_sleep_us(left_us / speed(c));
		left_us = until_us - done_us(c);
	}
	orr_assert(r->receiving > 0);
	set_running(r, r->nrunning, r->receiving - 1);
}

void orr_sim_cores_steal(struct orr_sim_rank *r, double us)
{
	if (orr_sim_cores_full(r))
		r->stolen_us += us;
}
