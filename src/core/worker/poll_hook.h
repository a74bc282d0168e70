/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers lend their threads to a component that has none of its own: the progression engine of
 * MPI.
 *
 * Invariant: when orr_poll_hook_set returns, no worker is inside the former function. */
#ifndef ORR_CORE_POLL_HOOK_H
#define ORR_CORE_POLL_HOOK_H

#include "core/worker/core.h"

/* From now on workers call hook(proc, 0) after each step that got them further, and hook(proc, 1)
 * before they sleep; NULL: nothing. [waits] until no worker calls the former function. */
void orr_poll_hook_set(struct orr_process *proc, void (*hook)(struct orr_process *, int idle));

void orr_poll_hook_run(struct orr_process *proc, int idle);
/* A worker's thread calls the function, if there is one. */
static inline void orr_poll_hook_call(struct orr_process *proc, int idle)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->poll_hook) != NULL, 0))
		orr_poll_hook_run(proc, idle);
}

#endif
