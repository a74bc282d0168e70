/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The links between the memories of a machine, for the modules that use them or their end
 * (sim_bus.c).
 *
 * Invariant: stated in sim_bus.c. */
#ifndef ORR_SIM_BUS_H
#define ORR_SIM_BUS_H

struct orr_sim_rank;

/* The links between main memory and the devices of a process that starts, and their end.
 * 0 or -ENOMEM. */
int orr_sim_bus_init(struct orr_sim_rank *r);
void orr_sim_bus_exit(struct orr_sim_rank *r);
/* The end of a kernel of that length that is given to the device of a memory node now: workers
 * of a device share it. */
double orr_sim_bus_kernel_end(struct orr_sim_rank *r, unsigned memnode, double us);

#endif
