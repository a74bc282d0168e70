/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a submitted task.
 *
 * A task waits for `ndeps` things (its own submission, accesses to data not yet granted, tasks and
 * tags declared as dependencies). Whoever takes ndeps to zero makes it ready (orr_task_ready).
 *
 * Invariant: between submission and completion exactly one party owns the task at any time: the
 * dependency counter, the scheduling policy, or the worker that executes it. */
#ifndef ORR_CORE_TASK_STATE_H
#define ORR_CORE_TASK_STATE_H

#include "core/task/task.h"

/* Takes one dependency away; the last makes the task ready. */
void orr_task_release(struct orr_task *t);
/* All dependencies are satisfied: it wants to hold its data. */
void orr_task_ready(struct orr_task *t);
/* A task that no worker executes goes on: its body runs, or its end begins. By orr_owner_proceed.
 */
void orr_task_proceed(struct orr_task *t);
/* It holds its data: prologue, then the policy. */
void orr_task_held(struct orr_task *t);
/* The body is over (or there was none): releases data and successors, runs callbacks. w is NULL
 * outside of workers. */
void orr_task_complete(struct orr_task *t, struct orr_worker *w);
/* Takes away one of the things that the end of the task waits for; the last one ends it. */
void orr_task_end_release(struct orr_task *t);

/* The end of a round of which others have not learnt yet. */
struct orr_round_end {
	struct orr_task_array begin, end; /* that wait for it, to begin and to end themselves */
	uint64_t tag;
	uint8_t has_tag, tag_begun;
};
/* Others learn of that end of a round of t: they go on. */
void orr_task_announce(struct orr_task *t, struct orr_round_end *e);
/* Up, to task_submit.c, as the end of a round may be the submission of the next one: submits a task
 * in the state AGAIN, at the end of its round. Returns 0 or -errno. `end` may be NULL; others learn
 * of that end once the new round is in the queues of its data, and not if this fails. */
int orr_task_submit_again(struct orr_task *t, struct orr_round_end *end);

#endif
