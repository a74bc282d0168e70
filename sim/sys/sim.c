/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one simulation of a process.
 *
 * Invariant: stated in sim.h. */
#include "sim.h"

struct orr_sim orr_sim;

const char *const orr_sim_network_names[ORR_SIM_NNETWORKS] = { [ORR_SIM_SMPI] = "smpi",
							       [ORR_SIM_MAXMIN] = "maxmin",
							       [ORR_SIM_SHARE] = "share",
							       [ORR_SIM_QUEUE] = "queue",
							       [ORR_SIM_TCP] = "tcp" };
