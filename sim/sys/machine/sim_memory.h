/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of the simulated world, before its first use (sim_memory.c).
 *
 * Invariant: stated in sim_memory.c. */
#ifndef ORR_SIM_MEMORY_H
#define ORR_SIM_MEMORY_H

/* The settings are known. */
void orr_sim_memory_init(void);

#endif
