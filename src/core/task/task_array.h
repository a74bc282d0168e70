/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growable array of tasks (successors, waiters), with room for two inside.
 *
 * Invariant: cap is 0 while the tasks stand in the array itself. An array of zero bytes is empty.
 */
#ifndef ORR_CORE_TASK_ARRAY_H
#define ORR_CORE_TASK_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"

struct orr_task;

struct orr_task_array {
	uint32_t n, cap;
	struct orr_task **v;
	struct orr_task *inl[2];
};

/* Appends a task. 0 or -ENOMEM. */
int orr_task_array_add(struct orr_task_array *a, struct orr_task *t);

static inline struct orr_task *orr_task_array_get(const struct orr_task_array *a, unsigned i)
{
	orr_assert(i < a->n);
	return a->cap ? a->v[i] : a->inl[i];
}

static inline void orr_task_array_free(struct orr_task_array *a)
{
	if (a->cap > 2)
		free(a->v);
	a->n = a->cap = 0;
}

#endif
