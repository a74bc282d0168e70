/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The costs of the runtime on a machine (sim_node.c).
 *
 * Invariant: stated in sim_node.c. */
#ifndef ORR_SIM_NODE_H
#define ORR_SIM_NODE_H

#include "base/seam.h"

struct orr_sim_rank;

/* The costs of the runtime on a rank, without the slowness of its node. */
void orr_sim_costs(const struct orr_sim_rank *r, double costs[ORR_NCOSTS]);
/* The time of a copy of so many bytes into a buffer of MPI, or out of it. */
double orr_sim_buffer_us(const struct orr_sim_rank *r, double bytes);

#endif
