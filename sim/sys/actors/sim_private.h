/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state that a thread of a rank has for itself: values of keys, the program's variables of
 * threads (_Thread_local), and its settings of OpenMP. All actors are one thread of the system, and
 * one actor runs the kernels of all workers of a rank; so each thread of the program, and each
 * worker while its kernel runs, has a state here.
 *
 * Invariant: the variables in place are those of `owner`; all others have a copy or have never run.
 */
#ifndef ORR_SIM_PRIVATE_H
#define ORR_SIM_PRIVATE_H

#include "actors/sim_private_record.h"

struct orr_sim_actor;
struct orr_sim_rank;

/* The rank's program has been loaded by the running actor: finds its variables of threads. */
void orr_sim_variables_find(struct orr_sim_rank *r);
/* The actor goes on, or begins or ends a kernel: what is in place becomes its own. */
void orr_sim_private_enter(struct orr_sim_actor *a);
/* The thread has ended: calls the destructors of its values, frees its state. */
void orr_sim_private_end(struct orr_sim_rank *r, struct orr_sim_private *p);
/* The object of C++ that this thread has made ends with it, by f(object). 0, or -1 without memory.
 */
int orr_sim_private_at_end(struct orr_sim_actor *a, void (*f)(void *), void *object);
/* The thread has called exit(): ends its objects. */
void orr_sim_private_exit(struct orr_sim_actor *a);
/* The workers of the rank have ended. */
void orr_sim_private_workers_end(struct orr_sim_rank *r);

#endif
