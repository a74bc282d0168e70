/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dependencies on tasks that may be submitted again (destroy is 0, or regenerate is set): they are
 * kept, so that the whole graph can be submitted once more.
 *
 * Each end of the first task counts once. A task that begins a new round waits for those of its
 * predecessors that have not ended since its last round began. The order in which the tasks of a
 * graph are submitted again does not matter.
 *
 * Invariant: an edge is either awaited (its second task counts it in ndeps), or arrived (the end of
 * the first task that nobody has consumed), or neither, never both; core->edge_lock protects all.
 */
#ifndef ORR_CORE_TASK_EDGES_H
#define ORR_CORE_TASK_EDGES_H

#include "core/task.h"

/* `from`, which may be submitted again, ends: those that await it go on, and its successors of this
 * round are kept. Call it before they are released. Without locks. */
void orr_task_edges_ended(struct orr_task *from, const struct orr_task_array *succ);
/* `to` begins a new round: adds to its ndeps what it awaits. Without locks. */
void orr_task_edges_begin(struct orr_task *to);
/* The task ends for good: whoever awaits it goes on. Without locks. */
void orr_task_edges_forget(struct orr_task *t);

#endif
