/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state machine of a worker.
 *
 * Invariant: a step never blocks; only the thread of the worker's group makes it. */
#ifndef ORR_CORE_WORKER_STEP_H
#define ORR_CORE_WORKER_STEP_H

#include "core/worker/core.h"

/* One step. Returns 1 if the worker advanced. */
int orr_worker_step(struct orr_worker *w, struct orr_thread *self);

#endif
