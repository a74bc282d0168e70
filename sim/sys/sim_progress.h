/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line of progress (sim_progress.c).
 *
 * Invariant: stated in sim_progress.c. */
#ifndef ORR_SIM_PROGRESS_H
#define ORR_SIM_PROGRESS_H

#include "sim.h"

/* The time of a clock on the wall. */
double orr_sim_wall_s(void);
void orr_sim_progress_clear_slow(void);
void orr_sim_progress_yield_slow(void);
/* Takes the line of progress away, before something else is written. */
static inline void orr_sim_progress_clear(void)
{
	if (__builtin_expect(orr_sim.progress_begun, 0))
		orr_sim_progress_clear_slow();
}
/* The same when a program has written something. */
static inline void orr_sim_progress_yield(void)
{
	if (__builtin_expect(orr_sim.progress_begun, 0))
		orr_sim_progress_yield_slow();
}

#endif
