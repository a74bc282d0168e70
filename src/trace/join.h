/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps of tasks that the trace holds in one event, because one thread takes them soon after each
 * other: a submission with the data that the task uses, a kernel from its start to the end of its
 * task, and tasks that the same end lets go on (format.h, ORR_TRACE_SHORT).
 *
 * Invariant: what readers make of them is what single events would say. In a simulation their times
 * are exact; in a real run a time may be that of a step of the same thread just before. */
#ifndef ORR_TRACE_JOIN_H
#define ORR_TRACE_JOIN_H

#include "trace/trace.h"

/* The event with the start of a kernel: it is there while the thread's run of blocks is the one of
 * that number. `run` 0: there is none that its end could join. */
struct orr_trace_began {
	struct orr_trace_event *at;
	uint64_t run;
};

/* A submission, now. Requires that submissions are recorded. */
void orr_trace_submitted(struct orr_process *proc, uint32_t name, uint64_t job, int priority,
			 uint64_t cause);
/* The task that this thread has submitted last uses n data (USES_SMALL): 1 if its submission says
 * so from now on, 0 if it has no room. */
int orr_trace_submitted_uses(struct orr_process *proc, uint64_t job, const uint32_t *use,
			     unsigned n);
/* A kernel starts: e has the fields of START, at e->ns. Requires that starts are recorded; else
 * began->run is 0. */
void orr_trace_started(struct orr_process *proc, struct orr_trace_event *e,
		       struct orr_trace_began *began);
/* The kernel of that start is over, at that time; transfer: field d of END. */
void orr_trace_ended(struct orr_process *proc, struct orr_trace_began *began, int worker,
		     uint64_t job, int64_t ns, uint64_t transfer);
/* The task is over, now. `began` may be NULL, `soon`: nothing of the program was called since its
 * kernel ended. */
void orr_trace_done(struct orr_process *proc, struct orr_trace_began *began, int worker,
		    uint64_t job, uint64_t cause, int soon);
/* The cause lets the task go on: RELEASE or READY, now. */
void orr_trace_let(struct orr_process *proc, enum orr_trace_kind kind, uint64_t job,
		   uint64_t cause);
/* The time of something that follows at once on the submission of the task in this thread: the
 * clock is what a real event costs most. */
int64_t orr_trace_submit_ns(struct orr_process *proc, uint64_t job);

#endif
