/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of ready tasks to workers.
 *
 * Invariant: a task that was dispatched belongs to the policy, or stands in one worker's list,
 * until one worker takes it. */
#ifndef ORR_CORE_DISPATCH_H
#define ORR_CORE_DISPATCH_H

#include "core/task/task.h"

/* Gives a ready task to the policy of its context, or to its worker. */
void orr_dispatch_push(struct orr_task *t);
/* Takes a task for an idle worker; NULL if there is none, or while the runtime is paused. By the
 * thread of the worker's group. */
struct starpu_task *orr_dispatch_pop(struct orr_worker *w, struct orr_process *proc);

struct orr_combined;
/* Gives a ready task to a combined worker, or to one worker, past the policy, which is told. */
void orr_dispatch_combined(struct orr_process *proc, struct orr_task *t,
			   const struct orr_combined *c);
void orr_dispatch_local(struct orr_process *proc, struct orr_task *t, unsigned worker);

#endif
