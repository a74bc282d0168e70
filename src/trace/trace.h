/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event recorder: always compiled, one load and a branch while it is off, the same events in
 * both worlds, stamped by orr_sys_now_us().
 *
 * ORRERY_TRACE=FILE switches it on. All processes of a run record into one file (file.h), whose
 * format is in format.h. The recorder knows no tasks, workers and messages: callers pass plain
 * values (core/task/task_trace.h does so for tasks, mpi/carry/message_trace.h for messages).
 *
 * Invariant: a thread appends to a block of its own, without a lock and without a system call
 * until the block is full; an event is in the file as soon as its kind is. */
#ifndef ORR_TRACE_TRACE_H
#define ORR_TRACE_TRACE_H

#include "base/process.h"
#include "trace/format.h"

/* Starts recording if the configuration names a file. 0 or -errno after a message. */
int orr_trace_init(struct orr_process *proc);
/* Ends recording. No other thread may record any more. */
void orr_trace_exit(struct orr_process *proc);

/* The functions below require proc->trace. */

/* True if events of that kind are recorded: what makes one need not be found out else. The trace
 * begins with their bits (stream.h). */
static inline int orr_trace_records(const struct orr_process *proc, enum orr_trace_kind kind)
{
	return ORR_ATOMIC_LOAD_RELAXED((const uint64_t *) (const void *) proc->trace) >> kind & 1;
}
/* Appends an event, e.ns nanoseconds from now. */
void orr_trace_add_now(struct orr_process *proc, struct orr_trace_event *e);
static inline void orr_trace_add(struct orr_process *proc, struct orr_trace_event e)
{
	orr_trace_add_now(proc, &e);
}
/* Appends an event at e->ns nanoseconds by the clock of the process; e may change. */
void orr_trace_add_at(struct orr_process *proc, struct orr_trace_event *e);
/* Now, in nanoseconds by the clock of the process. */
static inline int64_t orr_trace_now_ns(void)
{
	return orr_sys_now_ns();
}
/* The number of a string, which is recorded when it is new. */
uint32_t orr_trace_string(struct orr_process *proc, const char *text);
/* The clock of the process is so far behind the one that the times of the run are by, but for an
 * error; at the begin of the run, or at its end, so that readers know how clocks drifted apart. */
struct orr_trace_clock {
	double behind_us, error_us;
	int at_end;
};
void orr_trace_clock(struct orr_process *proc, const struct orr_trace_clock *clock);
/* The rank of the process, its number of ranks, and its clock are known. */
void orr_trace_place(struct orr_process *proc, const struct orr_trace_clock *clock);
/* For a thread of the program that is about to wait, and that has waited for what the call says,
 * until the cause let it go on (0: not known): recorded if it was a microsecond or more. The first
 * one does not require proc->trace, and returns a negative time without it: a simulated run begins
 * at 0. */
static inline double orr_trace_wait_begin(const struct orr_process *proc)
{
	return __builtin_expect(proc->trace != NULL, 0) ? orr_sys_now_us() : -1;
}
void orr_trace_waited(struct orr_process *proc, double since_us, const char *call, uint64_t cause);
/* A mark of the program: "what text" with a number, in the thread that steps `worker`, or none
 * (-1). Line breaks become spaces. */
void orr_trace_mark(struct orr_process *proc, int worker, const char *what, unsigned long number,
		    const char *text);

#endif
