/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers lend their threads to a component that has none of its own: the progression engine of
 * MPI.
 *
 * Invariant: when orr_look_set returns, no worker is inside the former function. */
#ifndef ORR_CORE_LOOK_H
#define ORR_CORE_LOOK_H

#include "core/core.h"

/* From now on workers call look(proc, 0) after each step that got them further, and look(proc, 1)
 * before they sleep; NULL: nothing. [waits] until no worker calls the former function. */
void orr_look_set(struct orr_process *proc, void (*look)(struct orr_process *, int idle));

void orr_look_call(struct orr_process *proc, int idle);
/* A worker's thread calls the function, if there is one. */
static inline void orr_look(struct orr_process *proc, int idle)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->look) != NULL, 0))
		orr_look_call(proc, idle);
}

#endif
