/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of tasks and workers for the recorder (trace/trace.h) and for the user's profiling tool
 * (trace/tool.h), which know neither.
 *
 * Invariant: a load and a branch when nobody wants to know. */
#ifndef ORR_CORE_TASK_TRACE_H
#define ORR_CORE_TASK_TRACE_H

#include "core/task/task.h"
#include "core/worker/worker.h"
#include "trace/tool.h"
#include "trace/trace.h"

/* Tells a step in the life of t, shift_us from now. `worker` is the worker that executes it, -1 if
 * none does. `event` is a constant. */
void orr_task_trace_submit(struct orr_process *proc, const struct orr_task *t);
void orr_task_trace_ready(struct orr_process *proc, const struct orr_task *t);
void orr_task_trace_start(struct orr_process *proc, const struct orr_task *t, int worker,
			  double shift_us);
void orr_task_trace_end(struct orr_process *proc, const struct orr_task *t, int worker,
			double shift_us);
void orr_task_trace_done(struct orr_process *proc, const struct orr_task *t, int worker);
static inline void orr_task_trace(struct orr_process *proc, enum orr_trace_kind event,
				  const struct orr_task *t, int worker, double shift_us)
{
	if (__builtin_expect(proc->observed == 0, 1))
		return;
	switch (event) {
	case ORR_TRACE_SUBMIT: orr_task_trace_submit(proc, t); break;
	case ORR_TRACE_READY: orr_task_trace_ready(proc, t); break;
	case ORR_TRACE_START: orr_task_trace_start(proc, t, worker, shift_us); break;
	case ORR_TRACE_END: orr_task_trace_end(proc, t, worker, shift_us); break;
	default: orr_task_trace_done(proc, t, worker);
	}
}

/* The task of that number, submitted or not yet, waits for one thing fewer, which the cause of the
 * calling thread says, but not for the last one. */
void orr_task_trace_release(struct orr_process *proc, uint64_t job, int submitted);
/* t comes after that cause (0: none), which is over, and is not in its data. Requires proc->trace,
 * and that t has a number. */
void orr_task_trace_comes_after(struct orr_process *proc, const struct orr_task *t, uint64_t cause);
/* The data that t uses, and tasks and messages that were over when t was submitted, and that it
 * comes after. Requires proc->trace; t cannot become ready meanwhile. */
void orr_task_trace_after(struct orr_process *proc, const struct orr_task *t);
/* Records the workers. Requires proc->trace. */
void orr_task_trace_workers(struct orr_process *proc);

/* The cause for others to go on in this thread: what ended, or else the task whose kernel or
 * callback runs in it; 0: the program. */
static inline uint64_t orr_thread_cause(const struct orr_thread *self)
{
	return self->cause || !self->task ? self->cause : ORR_CAUSE_TASK | self->task->job_id;
}

/* The end of t lets others go on in this thread, until the cause that is returned is set again. */
static inline uint64_t orr_cause_begin(struct orr_thread *self, const struct orr_task *t)
{
	uint64_t was = self->cause;

	self->cause = ORR_CAUSE_TASK | t->job_id;
	return was;
}

/* The program's function is called because of t, since then, and returns now. A begin that is
 * negative is none: nothing is recorded. */
void orr_task_trace_called(struct orr_process *proc, enum orr_trace_callback what, uint64_t job,
			   double since_us);
static inline double orr_task_trace_calls(const struct orr_thread *self)
{
	return __builtin_expect(self->proc->trace != NULL, 0) ? orr_sys_now_us() + self->debt_us
							      : -1;
}

/* The worker has taken a task. Most have their data there already, and nobody asks when; the clock
 * is what a real event costs most. */
static inline void orr_worker_trace_take(struct orr_worker *w, const struct orr_process *proc)
{
	if (__builtin_expect(proc->trace != NULL, 0))
		w->taken_us = w->pipeline ? orr_sys_now_us() : -1;
}

/* It asks for data that may take time. */
static inline void orr_worker_trace_ask(struct orr_worker *w, const struct orr_task *t,
					const struct orr_process *proc)
{
	if (__builtin_expect(proc->trace != NULL, 0) && t == w->task && w->taken_us < 0)
		w->taken_us = orr_sys_now_us();
}

/* Tells the tool of an event of a worker that is not about a task. */
void orr_worker_trace_slow(struct orr_worker *w, enum starpu_prof_tool_event event);
static inline void orr_worker_trace(struct orr_worker *w, enum starpu_prof_tool_event event)
{
	if (__builtin_expect(w->group->proc->tool != NULL, 0))
		orr_worker_trace_slow(w, event);
}

#endif
