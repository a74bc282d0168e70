/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loop that steps a group of workers.
 *
 * Invariant: one thread steps a group at a time. */
#ifndef ORR_CORE_GROUP_H
#define ORR_CORE_GROUP_H

#include "core/worker/core.h"

/* Starts the threads of the groups. 0, or -errno after a message. */
int orr_group_start_all(struct orr_process *proc);
/* [waits] Lets the threads end once nothing is left to do. */
void orr_group_stop_all(struct orr_process *proc);

/* The calling thread drives the workers of `g` until told to stop. */
void *orr_group_main(void *g);
/* One turn of a group's state machine: returns 1 when something advanced. *next_us is the instant
 * of the next known completion, or negative. */
int orr_group_step(struct orr_group *g, double *next_us);

#endif
