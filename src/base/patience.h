/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The patience of the progression engine: how long a thread that waits for messages spins, yields
 * and sleeps while nothing happens.
 *
 * In a real run the engine obeys these numbers (mpi/carry/rest.c). A simulated engine blocks and
 * never polls, so the simulator charges what polling would take: how late a message is noticed
 * (sim/sys/net/sim_mpi.c), and how much of a core the threads take that wake only to poll
 * (sim/sys/machine/sim_cores.c).
 *
 * The law: pauses follow how long nothing has happened. First spinning, then yielding, then
 * sleeping for an eighth of that time, within limits. So a late message waits at most another
 * eighth of its delay, and an idle process uses no measurable processor time.
 *
 * How long a thread yields is learnt. Sleeps end at the grain of timers, 50 us and more after a
 * message that takes one: two processes that answer each other would each wait for the end of the
 * other's sleep, for ever. Whoever notices a message after a time for which yielding is worthwhile
 * yields twice as long from then on; whoever waits longer in vain yields half as long.
 *
 * Invariant: both worlds take every number from here. */
#ifndef ORR_BASE_PATIENCE_H
#define ORR_BASE_PATIENCE_H

/* Yields that long before the first sleep: at first and at least, and at most. */
#define ORR_PATIENCE_YIELD_US 100.0
#define ORR_PATIENCE_LONG_YIELD_US 1000.0
/* The shortest sleep, and the longest one while a message or completion is expected. */
#define ORR_PATIENCE_NAP_US 50.0
#define ORR_PATIENCE_LONG_NAP_US 1000.0
/* The longest sleep while nothing is expected, or while another thread polls. */
#define ORR_PATIENCE_IDLE_US 10000.0
/* A process without a core for a thread that only polls lets its workers poll between tasks, but
 * each of them at most this often. */
#define ORR_PATIENCE_WORKER_US 20.0
/* The other threads poll at this interval only while workers do so: on a core that computes, each
 * poll delays a kernel. */
#define ORR_PATIENCE_PATROL_US 1000.0

/* The time to yield from now on, instead of yield_us, since a message was noticed late_us after the
 * last event. */
static inline double orr_patience_learn(double yield_us, double late_us)
{
	if (late_us > ORR_PATIENCE_LONG_YIELD_US)
		return yield_us > 2 * ORR_PATIENCE_YIELD_US ? yield_us / 2 : ORR_PATIENCE_YIELD_US;
	if (2 * late_us > ORR_PATIENCE_LONG_YIELD_US)
		return ORR_PATIENCE_LONG_YIELD_US;
	return 2 * late_us > yield_us ? 2 * late_us : yield_us;
}

/* The time to sleep when nothing has happened for late_us. */
static inline double orr_patience_nap_us(double late_us, double longest_us)
{
	double us = late_us / 8;

	return us < ORR_PATIENCE_NAP_US ? ORR_PATIENCE_NAP_US : us > longest_us ? longest_us : us;
}

#endif
