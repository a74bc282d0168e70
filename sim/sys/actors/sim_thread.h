/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The code of actors that are threads of the runtime or of the program (sim_thread.c).
 *
 * Invariant: each of these functions is called in its actor. */
#ifndef ORR_SIM_THREAD_H
#define ORR_SIM_THREAD_H

struct orr_sim_actor;

/* The code of engine and driver actors: run what orr_sys_thread_start hands over, again and again.
 */
void orr_sim_serve(struct orr_sim_actor *a);
/* The same for those that borrow their stack. */
void orr_sim_turn(struct orr_sim_actor *a);
/* The end of a user thread, called in it; it must return to SimGrid at once. */
void orr_sim_user_end(struct orr_sim_actor *a, void *ret);

#endif
