/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages that several ranks have said.
 *
 * Invariant: see sim_speak.c. */
#ifndef ORR_SIM_SPEAK_H
#define ORR_SIM_SPEAK_H

/* The simulation ends: prints for each such text the number of ranks that were not heard. */
void orr_sim_speak_end(void);

#endif
