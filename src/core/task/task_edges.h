/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dependencies on tasks that may be submitted again (destroy is 0, or regenerate is set): they are
 * kept, so that the whole graph can be submitted once more.
 *
 * Each round of the second task consumes one end of the first one: it waits if all of them have
 * been consumed. So the first task may be many rounds ahead, and the order in which the tasks of a
 * graph are submitted again does not matter.
 *
 * Invariant: an edge is either awaited (its second task counts it in ndeps), or has ends of the
 * first task that nobody has consumed, or neither, never both; core->edge_lock protects all.
 */
#ifndef ORR_CORE_TASK_EDGES_H
#define ORR_CORE_TASK_EDGES_H

#include "core/task/task.h"

/* `from`, which may be submitted again, ends: its successors of this round, `succ`, are kept, and
 * those that await it are added to them, for the caller to release. Without locks. */
void orr_task_edges_ended(struct orr_task *from, struct orr_task_array *succ);
/* `to` begins a new round: adds to its ndeps what it awaits. Without locks. */
void orr_task_edges_begin(struct orr_task *to);
/* The task ends for good: whoever awaits it goes on. Without locks. */
void orr_task_edges_forget(struct orr_task *t);

#endif
