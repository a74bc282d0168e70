/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event recorder: always compiled, one load and a branch while it is off, the same events in
 * both worlds, stamped by orr_sys_now_us().
 *
 * ORRERY_TRACE=FILE switches it on. The file is text with one event per line, written at shutdown:
 * time_us, rank, worker, event, job, name. The recorder knows no tasks and no workers: callers pass
 * plain values (core/task_trace.h does so for tasks).
 *
 * Invariant: an event recorded by the thread that steps a worker goes to the worker's own buffer
 * without a lock; all other threads share one buffer under its lock. */
#ifndef ORR_TRACE_TRACE_H
#define ORR_TRACE_TRACE_H

#include "base/process.h"

enum orr_trace_event {
	ORR_TRACE_SUBMIT,
	ORR_TRACE_START,
	ORR_TRACE_END,
	ORR_TRACE_DONE,
	ORR_TRACE_SEND,
	ORR_TRACE_RECV,
	ORR_TRACE_COPY,
	ORR_TRACE_COPIED,
	ORR_TRACE_USER,
	ORR_TRACE_NEVENTS
};

/* Starts recording if the configuration names a file. 0 or -ENOMEM. */
int orr_trace_init(struct orr_process *proc);
/* Writes the file and frees all events. No other thread may record any more. */
void orr_trace_exit(struct orr_process *proc);

/* The clock of this process is so far behind the one that the times of the file are by. Requires
 * proc->trace. */
void orr_trace_set_behind(struct orr_process *proc, double us);

/* The functions below require proc->trace. `by` is the number of the worker that the calling thread
 * steps, -1 if it steps none; no two threads may pass the same worker at a time. */

/* A step in the life of a task, shift_us from now. `worker` is the worker that executes it, -1 if
 * none does. The name must outlive the recorder. */
void orr_trace_task(struct orr_process *proc, int by, enum orr_trace_event event, uint64_t job,
		    const char *name, int worker, double shift_us);
/* A message to or from rank `peer`. */
void orr_trace_message(struct orr_process *proc, int by, enum orr_trace_event event, int peer,
		       int64_t tag, size_t bytes);
/* A copy of a datum of so many bytes between memory nodes begins (COPY) or ends (COPIED). */
void orr_trace_copy(struct orr_process *proc, int by, enum orr_trace_event event, unsigned src,
		    unsigned dst, size_t bytes);
/* A mark of the program: "what text" with a number. Line breaks become spaces. */
void orr_trace_mark(struct orr_process *proc, int by, const char *what, unsigned long number,
		    const char *text);

#endif
