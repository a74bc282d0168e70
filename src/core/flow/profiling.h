/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On-line profiling of tasks (starpu_profiling_task_info).
 *
 * Invariant: a task has profiling_info from its submission on, if profiling is on then. */
#ifndef ORR_CORE_PROFILING_H
#define ORR_CORE_PROFILING_H

#include "core/task/task.h"

/* The task is being submitted: gives it its profiling_info. */
void orr_profiling_submit(struct orr_task *t);
/* Stores that time in the field of profiling_info at that offset. */
void orr_profiling_stamp(struct orr_task *t, size_t field_offset, double us);

/* The files for the statistics of the end can be written; otherwise -errno after a message. */
int orr_profiling_prepare_files(struct orr_process *proc);

#endif
