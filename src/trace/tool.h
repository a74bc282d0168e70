/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The profiling tool that STARPU_PROF_TOOL names (starpu_profiling_tool.h).
 *
 * Invariant: the function of a slot never changes once it is set, so events read slots without a
 * lock; proc->tool is NULL in programs without a tool. */
#ifndef ORR_TRACE_TOOL_H
#define ORR_TRACE_TOOL_H

#include "base/process.h"
#include "starpu_profiling_tool.h"

/* Loads the tool if one is named, and tells it so. 0, or -EINVAL after a message, or -ENOMEM. */
int orr_tool_init(struct orr_process *proc);
/* Tells it the last event. */
void orr_tool_exit(struct orr_process *proc);

/* Tells the tool; without locks. The event fills event_type, the rest of info is the caller's. */
void orr_tool_tell(struct orr_process *proc, enum starpu_prof_tool_event event,
		   struct starpu_prof_tool_info info);
/* An event that is no worker's. */
void orr_tool_tell_process(struct orr_process *proc, enum starpu_prof_tool_event event);
/* A copy of that many bytes to a memory node, of a device of that number (-1: main memory), begins
 * or ends. */
void orr_tool_transfer_slow(struct orr_process *proc, int ends, unsigned node, int device,
			    size_t bytes);
static inline void orr_tool_transfer(struct orr_process *proc, int ends, unsigned node, int device,
				     size_t bytes)
{
	if (__builtin_expect(proc->tool != NULL, 0))
		orr_tool_transfer_slow(proc, ends, node, device, bytes);
}

#endif
