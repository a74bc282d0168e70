/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The turns of actors, beside those that SimGrid gives.
 *
 * An actor that blocks makes no call of SimGrid's kernel, and one that is unblocked gets its turn
 * from our own list. When all is quiet in SimGrid (no activity of SMPI, no timer, nobody whom it
 * would run), actors and events (sim_event.h) take turns without it, and virtual time jumps to the
 * next event. The launcher puts the two functions below into SimGrid's main loop
 * (sim/launcher/interpose_loop.c).
 *
 * Measured in a stencil on 64 nodes: a task with its message takes 38,000 instructions instead of
 * the 58,000 that it took with semaphores and timers of SimGrid.
 *
 * Engines and drivers borrow their stacks, because they have nothing to do most of the time. An
 * actor in a recess (base/seam.h) has no stack; when it gets its turn it is lent one, and gives it
 * back in its next recess. While it waits in the middle of something, as in a function of the
 * program, it keeps the stack. One whose actor has gone into a recess goes on at once with the
 * actor that has the next turn, if that borrows too. If nobody has a turn, it runs the next events
 * itself, as far as these call nothing of SimGrid's kernel. So most turns of engines and drivers
 * need no change of contexts.
 *
 * Measured: 28 KB less for each rank, and a start in 0.48 s instead of 0.64 s for 1,024 ranks. Of
 * 148,000 changes of contexts in a Cholesky on 64 nodes 9,700 are left.
 *
 * Invariant: an actor that borrows has a stack from the beginning of a turn to its next recess, and
 * a stack has at most one actor. An actor that is in the list is not blocked, and is suspended
 * outside of all calls of SimGrid's kernel. */
#ifndef ORR_SIM_TURNS_H
#define ORR_SIM_TURNS_H

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_actor;

/* The actor gets a turn, at this virtual time, behind those that are in the list already. */
void orr_sim_turns_add(struct orr_sim_actor *a);
/* The actor is about to be killed: it gets no turn any more. */
void orr_sim_turns_forget(struct orr_sim_actor *a);

#pragma GCC visibility push(default)

/* SimGrid looks for its next event, nothing being left to do at this time. real: its own function,
 * which moves virtual time on, at most to max_s (negative: no limit), and returns by how much, or
 * -1 if there is no event. Returns the same. */
double orrery_sim_advance(const void *engine, double max_s, double (*real)(const void *, double));
/* SimGrid has ended a round of actors: those in the list take part in its next round. */
void orrery_sim_round_ended(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
