/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings that programs change while tasks run (starpu_perf_steering.h).
 *
 * Invariant: core->prio_caps is set once a context limits priorities, so that others cost a test.
 */
#ifndef ORR_CORE_KNOB_H
#define ORR_CORE_KNOB_H

#include "core/task.h"

/* The task is ready: brings its priority into the range of its context. */
void orr_knob_cap(struct orr_process *proc, struct orr_task *t);
/* The runtime is about to stop: workers that are switched off execute what is left. */
void orr_knob_enable_all(struct orr_process *proc);

#endif
