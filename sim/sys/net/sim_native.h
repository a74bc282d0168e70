/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transport whose messages are events of the simulation, on the models of sim_network.h.
 *
 * Invariant: the launcher chooses it before any actor runs, or does not use it at all. */
#ifndef ORR_SIM_NATIVE_H
#define ORR_SIM_NATIVE_H

#include "net/sim_mpi.h"

extern const struct orr_sim_carrier orr_sim_native;

#endif
