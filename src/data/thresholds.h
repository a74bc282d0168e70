/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholds of a memory node: below them it is tidied (tidy.h), by an idle group that is called
 * here.
 *
 * Invariant: without a limit, and on a disk, there are none; those at which tidying ends are not
 * below those at which it begins. */
#ifndef ORR_DATA_THRESHOLDS_H
#define ORR_DATA_THRESHOLDS_H

#include "data/memory.h"

/* Sets those of a new memory node from the environment. */
void orr_thresholds_init(struct orr_process *proc, struct orr_memnode *m);
/* Bytes that are free, buffers kept for reuse included. */
size_t orr_memory_available(const struct orr_memnode *m);
/* More than its limit was handed out. */
int orr_memory_overflows(const struct orr_memnode *m);
/* Bytes that are to be had without a write-back: fewer, and some are written back. */
size_t orr_memory_clean_goal(const struct orr_memnode *m);
/* Calls for an idle group if some memory runs low. Without locks. */
void orr_memory_look(struct orr_process *proc);

/* Something that keeps memory ended. Without locks. */
static inline void orr_memory_kick(struct orr_process *proc)
{
	orr_memory_freed(proc);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->data->limited), 0) &&
	    !ORR_ATOMIC_LOAD_RELAXED(&proc->data->untidy))
		orr_memory_look(proc);
}

#endif
