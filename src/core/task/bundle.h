/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions of policies about bundles of tasks (starpu_task_util.h).
 *
 * Invariant: a task that is queued or executing keeps its bundle alive. */
#ifndef ORR_CORE_BUNDLE_H
#define ORR_CORE_BUNDLE_H

#include "core/task/task.h"

/* The memory node that was chosen for the tasks of the task's bundle, -1 when there is none. */
int orr_bundle_memnode(const struct starpu_task *task);
/* The first one of the bundle goes there. */
void orr_bundle_settle(struct starpu_task *task, unsigned memnode);

#endif
