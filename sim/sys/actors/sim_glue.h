/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of SimGrid's C++ interface that sim/sys needs (sim_glue.cpp). Read by C and by C++, so
 * that the compiler checks both sides of each call.
 *
 * Invariant: only declarations that mean the same in both languages. */
#ifndef ORR_SIM_GLUE_H
#define ORR_SIM_GLUE_H

#include <stddef.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <smpi/forward.hpp>
#include "sim_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_actor;

/* Starts code(a) in a new actor on the host, with a stack of that many bytes; the running actor
 * becomes its parent. instance: the SMPI instance that it joins as that rank, or NULL. */
sg_actor_t orr_sim_glue_start(struct orr_sim_actor *a, const char *name, sg_host_t host,
			      const char *instance, int rank, size_t stack,
			      void (*code)(struct orr_sim_actor *));
/* The running actor lets others run, or waits that long, or ends. */
void orr_sim_glue_yield(struct orr_sim_actor *a);
void orr_sim_glue_pause(struct orr_sim_actor *a, double s);
void orr_sim_glue_exit(void) __attribute__((noreturn));
/* An event of SimGrid's has changed what the models of the network plan. */
void orr_sim_glue_outside(void);
/* ---- turns (sim_turns.c) ---- */
enum orr_sim_resumed { ORR_SIM_ACTOR_AWAY, ORR_SIM_ACTOR_ENDED };
/* The running actor is suspended, until it is resumed or SimGrid runs it. */
void orr_sim_glue_suspend(sg_actor_t actor);
/* By SimGrid's own thread of control, while SimGrid has no actor to run: gives the processor to a
 * suspended actor, whose context that is. It comes back when the actor is suspended, waits for the
 * answer to a call of SimGrid's kernel (_serve_call), or has ended. */
enum orr_sim_resumed orr_sim_glue_resume(sg_actor_t actor, void *context);
void orr_sim_glue_serve_call(sg_actor_t actor);
/* A suspended actor takes part in SimGrid's next round. */
void orr_sim_glue_run_soon(sg_actor_t actor);
/* Returns 1 if nothing of SimGrid's own is under way: what may come is a timer, or a change that a
 * profile asks for. */
int orr_sim_glue_is_quiet(void);
/* The date of the next change of a link or host that its profile asks for; negative: none. */
double orr_sim_glue_profile_next(void);
void orr_sim_glue_clock_set(double date_s);

/* The world of the running actor's SMPI instance (an MPI_Comm), once the actor has called MPI_Init.
 */
SMPI_Comm *orr_sim_glue_world(void);
/* SMPI serves the running actor, which is of no instance, with what needs no communicator but
 * MPI_COMM_SELF: datatypes and packing. */
void orr_sim_glue_allow_types(void);
/* A communicator of these n ranks of `all` (ranks NULL: all of them), the same object for each; no
 * message is sent. Messages match within one id. Each rank but the first calls _share, and each
 * calls _leave instead of MPI_Comm_free(), which would forbid the others to use it. */
SMPI_Comm *orr_sim_glue_comm_new(SMPI_Comm *all, const int *ranks, int n, int id);
void orr_sim_glue_comm_share(SMPI_Comm *comm);
void orr_sim_glue_comm_leave(SMPI_Comm *comm);
/* Sets *world to the world of that instance, soon, before its rank 0 calls MPI_Init. */
void orr_sim_glue_world_find(const char *instance, sg_host_t host, SMPI_Comm **world);
/* The actor is that rank of the group; the actor of a rank. */
void orr_sim_glue_group_map(SMPI_Group *group, long actor, int rank);
long orr_sim_glue_group_pid(SMPI_Group *group, int rank);
/* One more communicator will be made of the group, and takes it over. */
void orr_sim_glue_group_share(SMPI_Group *group);
/* A communicator of that id for the calling process alone, which frees it; the others make theirs.
 */
SMPI_Comm *orr_sim_glue_comm_of(SMPI_Group *group, int id);
/* The context of the running actor, as SimGrid names it when it changes actors. */
void *orr_sim_glue_context(void);
/* Makes SMPI leave out copies from [low, high). */
void orr_sim_glue_no_copy(const void *low, const void *high);

#pragma GCC visibility push(default)

/* SimGrid has put a change of a link or host into that set. */
void orrery_sim_profiles(const void *set);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
