/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of the program that idle workers call.
 *
 * Invariant: no lock is held while one is called. */
#ifndef ORR_CORE_HOOKS_H
#define ORR_CORE_HOOKS_H

#include "core/worker/core.h"

/* Calls the program's hooks in the thread of an idle group. Returns 1 when one of them wants to be
 * called again soon. */
int orr_hooks_run(struct orr_group *g);
void orr_hooks_exit(struct orr_process *proc);

#endif
