/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that are tried again when they fail (starpu_task_ft_*).
 *
 * A task whose prologue is starpu_task_ft_prologue() becomes a meta task: it holds its data, its
 * kernel is not executed, and its end waits for a success. Try tasks execute the kernel in its
 * place, one after the other, with the data that the meta task holds.
 *
 * Invariant: a try task (one that borrows) holds no data itself, and exists only while its meta
 * task does. */
#ifndef ORR_CORE_TASK_RETRY_H
#define ORR_CORE_TASK_RETRY_H

#include "core/task/task.h"

/* The accesses of a try task were entered: it holds what its meta task holds. */
static inline void orr_task_retry_borrow(struct orr_task *t)
{
	orr_assert(t->borrows && !t->owner.held);
	t->owner.held = 1;
}

#endif
