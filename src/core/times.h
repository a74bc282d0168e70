/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The use that workers make of their time, while profiling is on.
 *
 * A worker without a task waits for one, and what made its next task ready says what it waited for:
 * the program that submitted the task late, a message that brought the last datum, or another task.
 * From then on the time until the task is taken is the runtime's.
 *
 * Invariant: the times of a worker add up to the time since its record was begun. It is written by
 * the thread that steps the worker, under the worker's local_lock; with profiling off, nothing is
 * called but the inline tests below. */
#ifndef ORR_CORE_TIMES_H
#define ORR_CORE_TIMES_H

#include "base/process.h"
#include "core/core.h"

/* The kind of time since the last change was `was`, that from now on is `next` until the next
 * change says otherwise. */
void orr_times_change_slow(struct orr_worker *w, enum orr_time was, enum orr_time next);
/* The worker has taken a task, after a time without one. */
void orr_times_take_slow(struct orr_worker *w, const struct orr_task *t);
/* The cause by which the task becomes ready that this thread pushes now. */
enum orr_time orr_times_cause(struct orr_process *proc);
/* Begins the worker's record anew; with its local_lock held. */
void orr_times_restart(struct orr_worker *w);
/* Closes the present interval of the worker's record; with its local_lock held. */
void orr_times_close(struct orr_worker *w);

static inline void orr_times_change(struct orr_worker *w, const struct orr_process *proc,
				    enum orr_time was, enum orr_time next)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg.profiling), 0))
		orr_times_change_slow(w, was, next);
}

static inline void orr_times_take(struct orr_worker *w, const struct orr_process *proc,
				  const struct orr_task *t)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg.profiling), 0))
		orr_times_take_slow(w, t);
}

#endif
