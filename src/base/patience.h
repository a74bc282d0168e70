/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The patience of the progression engine: how long a thread that waits for messages spins, yields
 * and sleeps while nothing happens.
 *
 * In a real run the engine obeys these numbers (mpi/rest.c). A simulated engine blocks and never
 * polls, so the simulator charges what polling would take: how late a message is noticed
 * (sim/sys/sim_mpi.c), and how much of a core the threads take that wake only to poll
 * (sim/sys/sim_cores.c).
 *
 * The law: pauses follow how long nothing has happened. First spinning, then yielding, then
 * sleeping for an eighth of that time, within limits. So a late message waits at most another
 * eighth of its delay, and an idle process uses no measurable processor time.
 *
 * Invariant: both worlds take every number from here. */
#ifndef ORR_BASE_PATIENCE_H
#define ORR_BASE_PATIENCE_H

/* Yields that long before the first sleep. */
#define ORR_PATIENCE_YIELD_US 100.0
/* The shortest sleep, and the longest one while a message or completion is expected. */
#define ORR_PATIENCE_NAP_US 50.0
#define ORR_PATIENCE_LONG_NAP_US 1000.0
/* The longest sleep while nothing is expected, or while another thread polls. */
#define ORR_PATIENCE_IDLE_US 10000.0
/* A process without a core for a thread that only polls lets its workers poll between tasks, but
 * each of them at most this often. */
#define ORR_PATIENCE_WORKER_US 20.0
/* While workers do so, the other threads poll at this interval only: on a core that computes, each
 * poll delays a kernel. */
#define ORR_PATIENCE_PATROL_US 1000.0

/* How long to sleep when nothing has happened for late_us. */
static inline double orr_patience_nap_us(double late_us, double longest_us)
{
	double us = late_us / 8;

	return us < ORR_PATIENCE_NAP_US ? ORR_PATIENCE_NAP_US : us > longest_us ? longest_us : us;
}

#endif
