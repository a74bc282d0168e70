/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for tasks, and throttling of submission.
 *
 * Invariant: nobody waits inside a task or a callback. */
#ifndef ORR_CORE_WAIT_H
#define ORR_CORE_WAIT_H

#include "core/worker/core.h"

/* [waits] Submission blocks while more than cfg.max_submitted tasks are pending. */
void orr_wait_throttle(struct orr_process *proc);

#endif
