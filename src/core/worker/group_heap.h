/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The running workers of a group, ordered by the end of their kernels.
 *
 * Invariant: g->heap[0] ends first; among workers that end at the same time, the one that was
 * pushed first. */
#ifndef ORR_CORE_GROUP_HEAP_H
#define ORR_CORE_GROUP_HEAP_H

#include "core/worker/core.h"

/* Adds a running worker whose kernel.end_us is known. */
void orr_group_heap_push(struct orr_group *g, struct orr_worker *w);
/* Removes the first worker; the heap is not empty. */
struct orr_worker *orr_group_heap_pop(struct orr_group *g);
/* Puts the running workers in order again after somebody changed their ends. */
void orr_group_heap_sort(struct orr_group *g);

#endif
