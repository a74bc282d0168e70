/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growable arrays of tasks (see task_array.h).
 *
 * Invariant: two tasks stand in the array itself; memory is allocated from the third on. */
#include "core/task/task_array.h"
#include "base/assert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int orr_task_array_add(struct orr_task_array *a, struct orr_task *t)
{
	orr_assertf(t, "no task is appended to %u", a->n);
	orr_assert(a->n <= 2 ? !a->cap : a->n <= a->cap);
	if (a->n < 2) {
		a->inl[a->n++] = t;
		return 0;
	}
	if (a->n == 2 || a->n == a->cap) {
		uint32_t cap = a->n == 2 ? 8 : 2 * a->cap;
		struct orr_task **v = a->n == 2 ? malloc(cap * sizeof(*v))
						: realloc(a->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		if (a->n == 2)
			memcpy(v, a->inl, 2 * sizeof(*v));
		a->v = v;
		a->cap = cap;
	}
	a->v[a->n++] = t;
	return 0;
}
