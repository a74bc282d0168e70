/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waking groups of workers that sleep.
 *
 * A group that is about to sleep prepares its wait on the bell, then enters the set of idle groups
 * (orr_core.idle_mask) and looks for work once more. Whoever removes a group from that set rings
 * its bell.
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
/* The thread of the group enters the set of idle groups, or leaves it. */
void orr_wake_enlist(struct orr_group *g);
void orr_wake_delist(struct orr_group *g);

#endif
