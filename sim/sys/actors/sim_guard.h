/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interposed functions that SimGrid has called so far (sim/launcher/guard.cpp).
 *
 * Invariant: a flag only goes from 0 to 1, by the interposed function itself. */
#ifndef ORR_SIM_GUARD_H
#define ORR_SIM_GUARD_H

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_called {
	unsigned char set_current, end_actions, solve, isend, comm_start, comm_end, access;
	unsigned char context_self, actor_self, get_pid, host_self;
};
extern struct orr_sim_called orr_sim_called;

#ifdef __cplusplus
}
#endif
#endif
