/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transfers that nobody waits for yet (handbook 27.4): one queue per memory node, ordered by
 * urgency and priority.
 *
 * A prefetch of the program holds the datum for reading, after the tasks submitted so far. An idle
 * one does not: it takes the datum when it is executed, if nobody wants it then. A prefetch for a
 * task relies on the task holding its data; so the task does not begin before those that were not
 * executed are cancelled and those under way are over. */
#ifndef ORR_DATA_PREFETCH_H
#define ORR_DATA_PREFETCH_H

#include "data/handle.h"

struct orr_owner;

/* Executes one queued prefetch, to memory node own first. idle: the group has nothing else to do.
 * Returns 1 when there was one. Called by the group's thread if proc->data->nprefetch is not 0. */
int orr_prefetch_progress(struct orr_process *proc, unsigned own, int idle);
/* Queues a prefetch of h to a memory node for an owner that is about to hold, or holds, the datum.
 * 0 or -ENOMEM. */
int orr_prefetch_for(struct orr_owner *o, starpu_data_handle_t h, unsigned memnode,
		     enum starpu_is_prefetch urgency, int prio);
/* A task begins: takes its prefetches off the queues. Returns 1 when none is left, 0 when some are
 * under way: o->nprefetch says. */
int orr_prefetch_cancel(struct orr_owner *o);
/* The runtime stops: takes all that were not begun off the queues. */
void orr_prefetch_cancel_all(struct orr_process *proc);
/* The handle ends: takes its idle prefetches off the queues. */
void orr_prefetch_forget(starpu_data_handle_t h);

#endif
