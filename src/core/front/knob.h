/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings that programs change while tasks run (starpu_perf_steering.h).
 *
 * Invariant: core->prio_caps is set before a context limits priorities (orr_ctx_cap). */
#ifndef ORR_CORE_KNOB_H
#define ORR_CORE_KNOB_H

#include "core/task/task.h"

/* The runtime is about to stop: workers that are switched off execute what is left. */
void orr_knob_enable_all(struct orr_process *proc);

#endif
