/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of tasks for the recorder (trace/trace.h), which knows no tasks.
 *
 * Invariant: a load and a branch when nothing is recorded. */
#ifndef ORR_CORE_TASK_TRACE_H
#define ORR_CORE_TASK_TRACE_H

#include "core/task.h"
#include "trace/trace.h"

/* Records a step in the life of t. `worker` is the worker that executes it, -1 if none does. */
void orr_task_trace_slow(struct orr_process *proc, enum orr_trace_event event,
			 const struct orr_task *t, int worker);
static inline void orr_task_trace(struct orr_process *proc, enum orr_trace_event event,
				  const struct orr_task *t, int worker)
{
	if (__builtin_expect(proc->trace != NULL, 0))
		orr_task_trace_slow(proc, event, t, worker);
}

#endif
