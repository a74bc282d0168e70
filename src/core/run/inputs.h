/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker collects the data of its task, or of its next task, on its memory node.
 *
 * t->nfetching counts the transfers under way; t->starved names an access for which memory was
 * exhausted. A task without memory waits with empty hands (w->starving) and tries again, one worker
 * of the process at a time.
 *
 * Invariant: only the thread of the worker's group calls these functions. */
#ifndef ORR_CORE_INPUTS_H
#define ORR_CORE_INPUTS_H

#include "core/task/task.h"

enum orr_inputs {
	ORR_INPUTS_IDLE,     /* nothing has changed */
	ORR_INPUTS_ADVANCED, /* something has, but the task is not ready to run */
	ORR_INPUTS_READY     /* the task has all its data: start its kernel */
};

/* Asks for the data of w->task, or of w->next. */
enum orr_inputs orr_inputs_begin(struct orr_worker *w, struct orr_task *t, struct orr_thread *self);
/* Goes on with those of w->task. */
enum orr_inputs orr_inputs_step(struct orr_worker *w, struct orr_thread *self);
/* Goes on with those of w->next. ORR_INPUTS_READY: it has them all. */
enum orr_inputs orr_inputs_step_next(struct orr_worker *w, struct orr_thread *self);
/* w->next, without its data because memory was exhausted, has become w->task: it asks again. */
void orr_inputs_promote(struct orr_task *t, struct orr_process *proc);
/* The worker has all its data: others may collect theirs. */
void orr_inputs_stop_starving(struct orr_worker *w, struct orr_process *proc);

/* The memory node on which worker w wants access i of its task, -1 when nowhere. */
int orr_inputs_target_node(struct orr_worker *w, struct starpu_task *task, unsigned i);

#endif
