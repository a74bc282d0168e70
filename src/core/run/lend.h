/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A CPU worker whose thread belongs to another component: the progression engine of MPI, which
 * executes tasks between two looks for messages.
 *
 * Invariant: one thread steps the worker: the one that called orr_lend_begin, until orr_lend_end.
 */
#ifndef ORR_CORE_LEND_H
#define ORR_CORE_LEND_H

#include "core/worker/core.h"

/* The calling thread steps CPU worker number cpu from now on, which has no thread of its own
 * (starpu_conf.not_launched_drivers). rung: called by any thread when the worker may have something
 * to do while it is lent; it may wait. NULL if there is no such worker. */
struct orr_group *orr_lend_begin(struct orr_process *proc, unsigned cpu,
				 void (*rung)(struct orr_process *));
void orr_lend_end(struct orr_group *g);

/* [waits] Executes at most so many tasks, one after the other. Returns 1 if the worker got further,
 * 0 if there was nothing to do. */
int orr_lend_run(struct orr_group *g, unsigned tasks);

/* The thread is about to sleep, or is awake again. It calls orr_lend_run once more after it said
 * that it will sleep; whoever queues a task later rings. */
void orr_lend_sleeps(struct orr_group *g);
void orr_lend_wakes(struct orr_group *g);

#endif
