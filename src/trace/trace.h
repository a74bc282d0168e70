/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event recorder: always compiled, one load and a branch when off, the same events in both
 * worlds, stamped by orr_sys_now_us().
 *
 * ORRERY_TRACE=FILE switches it on; the file is text, one event a line, written at shutdown:
 * time_us, rank, worker, event, job, name.
 *
 * Invariant: recording takes no lock: each worker has its own buffer, other threads share one under
 * its lock. */
#ifndef ORR_TRACE_TRACE_H
#define ORR_TRACE_TRACE_H

#include "core/task.h"

enum orr_event {
	ORR_EV_SUBMIT,
	ORR_EV_START,
	ORR_EV_END,
	ORR_EV_DONE,
	ORR_EV_SEND,
	ORR_EV_RECV,
	ORR_EV_USER,
	ORR_NEVENTS
};

void orr_trace_task_slow(struct orr_process *proc, enum orr_event ev, struct orr_task *t,
			 int worker);
void orr_trace_message(struct orr_process *proc, enum orr_event ev, int peer, int64_t tag,
		       size_t bytes);
int orr_trace_init(struct orr_process *proc);
void orr_trace_exit(struct orr_process *proc);

static inline void orr_trace_task(struct orr_process *proc, enum orr_event ev, struct orr_task *t,
				  int worker)
{
	if (__builtin_expect(proc->trace != NULL, 0))
		orr_trace_task_slow(proc, ev, t, worker);
}

#endif
