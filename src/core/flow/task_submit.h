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
struct orr_round_end;
/* Submits a task in the state AGAIN, at the end of its round. Returns 0 or -errno. `end` may be
 * NULL; others learn of that end once the new round is in the queues of its data, and not if this
 * fails. */
int orr_task_submit_again(struct orr_task *t, struct orr_round_end *end);

#endif
