/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Diagnosis: the tasks that are submitted and not complete.
 *
 * Invariant: it only reads. */
#ifndef ORR_CORE_TASK_DUMP_H
#define ORR_CORE_TASK_DUMP_H

#include <stdio.h>

#include "core/worker/core.h"

/* Prints these tasks with what each waits for, those that wait for no other task or datum first; at
 * most max lines. */
void orr_task_dump(struct orr_process *proc, FILE *f, unsigned max);

#endif
