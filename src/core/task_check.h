/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mistakes in a task that the program submits.
 *
 * Invariant: whoever finds a mistake says so in a message that names the task. */
#ifndef ORR_CORE_TASK_CHECK_H
#define ORR_CORE_TASK_CHECK_H

#include "core/core.h"

/* Everything that can be wrong with the task itself, which units of these kinds may execute.
 * internal: the runtime made the task, and its data are known to be good. 0, or -EINVAL or -ENODEV
 * after a message. */
int orr_task_check(struct orr_process *proc, struct starpu_task *task, struct orr_task *t,
		   uint32_t where, int internal, struct orr_ctx *ctx);

#endif
