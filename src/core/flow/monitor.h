/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts tasks for the performance counters, and calls their listeners.
 *
 * Invariant: while collection is off, a task costs a test at each stage. orr_task.monitored says
 * where a task was counted last, so that collection may begin and end while tasks are under way. */
#ifndef ORR_CORE_MONITOR_H
#define ORR_CORE_MONITOR_H

#include "core/worker/core.h"
#include "core/task/task.h"

/* The places that orr_task.monitored remembers. */
enum { ORR_MONITOR_SUBMITTED = 1, ORR_MONITOR_READY = 2, ORR_MONITOR_STARTED = 4 };

/* A task of the program was submitted; has what it waited for (runs: a worker will execute it); is
 * begun by a worker; was executed by it. Without locks. */
void orr_monitor_submit_slow(struct orr_process *proc, struct orr_task *t);
void orr_monitor_ready_slow(struct orr_process *proc, struct orr_task *t, int runs);
void orr_monitor_start_slow(struct orr_process *proc, struct orr_task *t);
void orr_monitor_end_slow(struct orr_process *proc, struct orr_task *t, struct orr_worker *w);

static inline int orr_monitor_on(const struct orr_process *proc)
{
	return ORR_ATOMIC_LOAD_RELAXED(&proc->core->collecting) != 0;
}
/* Is there something to do for the task? */
static inline int orr_monitor_wants(const struct orr_process *proc, const struct orr_task *t)
{
	return __builtin_expect(orr_monitor_on(proc) || t->monitored, 0);
}

/* A stage of the start (start/stages.c): before threads begin; after they ended. */
int orr_monitor_init(struct orr_process *proc);
void orr_monitor_exit(struct orr_process *proc);

#endif
