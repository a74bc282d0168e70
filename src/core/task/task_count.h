/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting tasks.
 *
 * Invariant: tasks are counted as completed after their callbacks. */
#ifndef ORR_CORE_TASK_COUNT_H
#define ORR_CORE_TASK_COUNT_H

#include "core/worker/core.h"

/* Submitted tasks that are not yet complete; never fewer than there are. */
uint64_t orr_task_npending(struct orr_process *proc);
uint64_t orr_task_ncompleted(struct orr_process *proc);

#endif
