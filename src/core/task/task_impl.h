/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The implementations of a task that a worker may run.
 *
 * Invariant: only implementations that these functions allow are ever started. */
#ifndef ORR_CORE_TASK_IMPL_H
#define ORR_CORE_TASK_IMPL_H

#include "core/worker/core.h"

/* May worker w execute implementation impl of t? */
int orr_task_can_run(struct orr_worker *w, const struct starpu_task *t, unsigned impl);
/* Can the argument and the data of the task go to another process? A size must be given for the
 * one, and the interfaces of the others must need no function of their own for that. */
int orr_task_can_travel(const struct starpu_task *t);
/* The first implementation that w may execute, or -1. */
int orr_task_first_impl(struct orr_worker *w, const struct starpu_task *t);

#endif
