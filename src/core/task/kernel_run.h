/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The start of a task's kernel on a worker.
 *
 * Invariant: w->kernel describes the kernel that was started last. */
#ifndef ORR_CORE_KERNEL_RUN_H
#define ORR_CORE_KERNEL_RUN_H

#include "core/worker/core.h"

/* [worker] For drivers: has the world start func as the kernel of t on w; a NULL func runs
 * elsewhere, or nowhere. Returns ORR_STARTED_RAN or ORR_STARTED_TIMED, as orr_sys_kernel_start
 * does. */
int orr_worker_run(struct orr_worker *w, struct orr_task *t, void (*func)(void **, void *));

#endif
