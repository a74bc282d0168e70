/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of a rank (sim_process.c).
 *
 * Invariant: stated in sim_process.c. */
#ifndef ORR_SIM_PROCESS_H
#define ORR_SIM_PROCESS_H

struct orr_sim_rank;

/* The end of the program's main: by return, exit() or in error. The last one ends the simulation.
 * Returns otherwise. */
void orr_sim_rank_end(struct orr_sim_rank *r, int status);

#endif
