/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns of actors without private names of SimGrid (turns.c), for the other files of this folder.
 *
 * Invariant: stated in turns.c. */
#ifndef ORR_SIM_PUBLIC_H
#define ORR_SIM_PUBLIC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_actor;

/* Messages of the program's own MPI may leave late (mpi.c). */
extern int orr_sim_public_late;

/* [by the last main actor that is ready, the others being blocked] Virtual time begins, and all of
 * them get a turn, in the order of their ranks, once the caller is blocked. */
void orr_sim_public_begin(void);
/* The conductor's code. */
void orr_sim_public_conduct(void);
/* Virtual time has gone on in SimGrid, or an event of SimGrid's has changed what we plan. */
void orr_sim_public_outside(void);
/* Tells of messages that have arrived; those that were begun leave (couriers.cpp). */
void orr_sim_public_arrived(void);
int orr_sim_public_any_arrived(void);
void orr_sim_public_leave(void);
/* The number of actors that wait for something of SimGrid's grows by so many. */
void orr_sim_public_waits(int by);
/* Actors of SimGrid's that are created from now on have stacks of so many bytes. */
void orr_sim_public_stack(size_t bytes);
/* A new actor of SimGrid's: returns when it has its first turn. */
void orr_sim_public_arrive(struct orr_sim_actor *a);
/* A new actor on a stack of its own. Returns 0 without memory. */
int orr_sim_public_thread(struct orr_sim_actor *a, size_t stack,
			  void (*code)(struct orr_sim_actor *));
/* The running actor, which is one of SimGrid's, calls a function that may wait in SimGrid. */
void orr_sim_public_away(struct orr_sim_actor *a);
void orr_sim_public_back(struct orr_sim_actor *a);

/* MPI_COMM_WORLD as SMPI has it without ranks. */
SMPI_Comm *orr_sim_public_placeholder(void);
/* Prepares MPI for the running main actor, before its program is loaded (mpi.c); returns when that
 * is done for all of them. */
void orr_sim_public_init(void);

#ifdef __cplusplus
}
#endif
#endif
