/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The execution of a task by a worker.
 *
 * Invariant: only the thread of the worker's group calls these functions. */
#ifndef ORR_CORE_EXECUTE_H
#define ORR_CORE_EXECUTE_H

#include "core/worker/core.h"

/* Chooses the implementation of a task that came to this worker. */
void orr_execute_prepare(struct orr_worker *w, struct orr_task *t);
/* All data of w->task are there: runs its kernel, or starts it. */
void orr_execute_start(struct orr_worker *w, struct orr_thread *self);
/* All data of w->next are there: starts its kernel behind those that the device has. Returns 1. */
int orr_execute_queue(struct orr_worker *w, struct orr_thread *self);
/* The kernel of w->task is over: completes the task, and goes on with w->next. */
void orr_execute_finish(struct orr_worker *w, struct orr_thread *self);

#endif
