/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core's part of the recorded events: steps in the life of tasks, and marks that the program
 * sets in the thread of a worker or elsewhere.
 *
 * Invariant: the number of a worker is passed only by the thread that steps this worker. */
#include "core/task_trace.h"
#include "core/task.h"

#include "starpu_fxt.h"

void orr_task_trace_slow(struct orr_process *proc, enum orr_trace_event event,
			 const struct orr_task *t, int worker)
{
	const struct starpu_codelet *cl = t->pub->cl;

	orr_trace_task(proc, starpu_worker_get_id(), event, t->job_id,
		       cl && cl->name ? cl->name : "unnamed", worker);
}

static void trace_mark(const char *what, unsigned long number, const char *text)
{
	struct orr_process *proc = orr_self();

	if (proc->trace)
		orr_trace_mark(proc, starpu_worker_get_id(), what, number, text);
}

void starpu_fxt_trace_user_event(unsigned long code)
{
	trace_mark("mark", code, "");
}

void starpu_fxt_trace_user_event_string(const char *s)
{
	trace_mark("mark", 0, s);
}

void starpu_iteration_push(unsigned long iteration)
{
	trace_mark("iteration", iteration, "");
}

void starpu_iteration_pop(void)
{
	trace_mark("iteration-end", 0, "");
}
