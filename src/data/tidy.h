/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that runs low is evicted or written back ahead by groups that have nothing else to do
 * (STARPU_MINIMUM_AVAILABLE_MEM, STARPU_MINIMUM_CLEAN_BUFFERS).
 *
 * Invariant: nothing happens here unless a memory node has such a limit. */
#ifndef ORR_DATA_TIDY_H
#define ORR_DATA_TIDY_H

#include "data/memory.h"

/* Sets the thresholds of a new memory node from the environment. */
void orr_memory_tidy_init(struct orr_process *proc, struct orr_memnode *m);
/* Calls for an idle group if some memory runs low. Without locks. */
void orr_memory_look(struct orr_process *proc);
/* By an idle group when proc->data->untidy. Returns 1 when it got something done. */
int orr_memory_tidy(struct orr_process *proc);

/* Something that keeps memory ended. Without locks. */
static inline void orr_memory_kick(struct orr_process *proc)
{
	orr_memory_freed(proc);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->data->limited), 0) &&
	    !ORR_ATOMIC_LOAD_RELAXED(&proc->data->untidy))
		orr_memory_look(proc);
}

#endif
