/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waking groups of workers that sleep.
 *
 * A group that is about to sleep prepares its wait on the bell, then enters the set of idle groups
 * (orr_core.idle_mask) and looks for work once more. Whoever removes a group from that set rings
 * its bell. A group that then finds a task leaves the set before it executes it: else a thread with
 * the next task would take it for a sleeper, and leave one that sleeps.
 *
 * Invariant: a thread that wakes has queued its task before, and holds no lock. */
#ifndef ORR_CORE_WAKE_H
#define ORR_CORE_WAKE_H

#include "core/worker/core.h"

/* Wakes the group of a worker, or up to one sleeping group (any), or all. Call these after the task
 * was queued. */
void orr_wake_worker(struct orr_worker *w);
void orr_wake_one(struct orr_process *proc);
void orr_wake_all(struct orr_process *proc);

/* Rings group number index, asleep or not. The caller has passed a full barrier since it queued. */
void orr_wake_group_fenced(struct orr_process *proc, unsigned index);
/* Rings group number index if it sleeps and nobody else has claimed it. Returns whether it did. The
 * caller has passed a full barrier since it queued. */
int orr_wake_claim_fenced(struct orr_process *proc, unsigned index);

/* Is the group in the set of idle groups? */
int orr_wake_is_listed(const struct orr_group *g);
/* The thread of the group enters the set of idle groups, to look for work once more, or leaves it.
 * The caller clears looks_again behind that look. */
void orr_wake_enlist(struct orr_group *g);
void orr_wake_delist(struct orr_group *g);
/* Leaves the set, in a group that looks once more and has found something that may take long. If a
 * thread has taken it for a sleeper meanwhile, another group is woken in its place. */
void orr_wake_found_work(struct orr_group *g);

/* Before a kernel or a callback of the program. */
static inline void orr_wake_before_work(struct orr_group *g)
{
	if (__builtin_expect(g->looks_again, 0))
		orr_wake_found_work(g);
}

#endif
