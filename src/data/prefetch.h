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

/* Executes one queued prefetch, to the memory of the group first. idle: the group has nothing else
 * to do. Returns 1 when there was one. Called by the group's thread when node->nprefetch is not 0.
 */
int orr_prefetch_progress(struct orr_group *g, int idle);
/* A task begins: takes its prefetches off the queues. Returns 1 when none is left, 0 when some are
 * under way: t->nprefetch says. */
int orr_prefetch_cancel(struct orr_task *t);
/* The runtime stops: takes all that were not begun off the queues. */
void orr_prefetch_cancel_all(struct orr_process *proc);
/* The handle ends: takes its idle prefetches off the queues. */
void orr_prefetch_forget(starpu_data_handle_t h);

#endif
