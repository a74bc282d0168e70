/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tags: names for tasks that are not there yet.
 *
 * Invariant: core->tag_lock protects all tags. */
#ifndef ORR_CORE_TAG_H
#define ORR_CORE_TAG_H

#include <stdio.h>

#include "core/task/task.h"

/* A task with a tag is submitted: declares the tag's dependencies as the task's. */
void orr_tag_task_submitted(struct orr_task *t);
/* It has completed: adds the tasks that may go on, for the caller to release. */
void orr_tag_task_done(struct orr_task *t, struct orr_task_array *released);
/* The same in two steps, for a task that goes on to its next round at once. It leaves its tag,
 * whose number becomes *id, and which begins its next round if no other task has it: 1 then. And
 * once the task is submitted again: the tag that it had fires. */
int orr_tag_round_ends(struct orr_task *t, uint64_t *id);
void orr_tag_round_fires(uint64_t id, int begun, struct orr_task_array *released);
/* Its callback is over. If that said that the task does not regenerate after all, its tag stays
 * fired. */
void orr_tag_task_ends(struct orr_task *t);
void orr_tag_exit(struct orr_process *proc);
/* Diagnosis: prints the tags that somebody waits for. */
void orr_tag_dump(struct orr_process *proc, FILE *f);

#endif
