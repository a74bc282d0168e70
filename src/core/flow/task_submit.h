/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Submission of tasks.
 *
 * Invariant: submission fails before anybody else sees the task, or not at all. */
#ifndef ORR_CORE_TASK_SUBMIT_H
#define ORR_CORE_TASK_SUBMIT_H

#include "core/worker/core.h"

/* Submits a task of the runtime itself: like starpu_task_submit, but it is not counted by
 * starpu_task_wait_for_all when t->internal is set. Returns 0 or -errno. */
int orr_task_submit(struct starpu_task *t);

#endif
