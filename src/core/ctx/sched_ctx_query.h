/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions about scheduling contexts, and their priorities.
 *
 * Invariant: nothing here changes which workers a context has. */
#ifndef ORR_CORE_SCHED_CTX_QUERY_H
#define ORR_CORE_SCHED_CTX_QUERY_H

#include "core/worker/core.h"

/* Lets a policy set its range of priorities; what the environment or the program fixed stays. */
void orr_ctx_set_prios(struct orr_ctx *ctx, int min_prio, int max_prio);
/* The priorities of the default context that struct starpu_conf asks for; before its policy starts,
 * which keeps to them. 0, or -EINVAL after a message. */
int orr_ctx_prios_by_conf(struct orr_process *proc, struct orr_ctx *ctx);

#endif
