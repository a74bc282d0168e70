/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Virtual time.
 *
 * Invariant: read by C and by C++, and means the same in both. */
#ifndef ORR_SIM_CLOCK_H
#define ORR_SIM_CLOCK_H

#include "simgrid_names.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SimGrid's own variable, or one of ours (simgrid_names.h). */
extern double orr_sim_glue_now_s __asm__(ORR_SIMGRID_NOW);
static inline double orr_sim_clock_s(void)
{
	return orr_sim_glue_now_s;
}

#ifdef __cplusplus
}
#endif
#endif
