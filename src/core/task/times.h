/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The use that workers make of their time, while profiling is on.
 *
 * A worker without a task waits for one, and what made its next task ready says what it waited for:
 * the program that submitted the task late, a message that brought the last datum, or another task.
 * From then on the time until its kernel starts is the runtime's, unless the data of the task have
 * to come: then it is the data's from when the task is taken. A worker that gets no other task has
 * waited for what made the tasks of the others ready. Of the time that the program is waited for,
 * what it spent on tasks of other ranks is a kind of its own.
 *
 * Invariant: the times of a worker add up to the time since its record was begun. It is written by
 * the thread that steps the worker, under the worker's local_lock; with profiling off, nothing is
 * called but the inline tests below. */
#ifndef ORR_CORE_TIMES_H
#define ORR_CORE_TIMES_H

#include "base/process.h"
#include "core/worker/core.h"

/* The kind of time since the last change was `was`, that from now_us on, which is now, is `next`
 * until the next change says otherwise. */
void orr_times_change_slow(struct orr_worker *w, enum orr_time was, enum orr_time next,
			   double now_us);
/* The data of the task that the worker has taken are not there: the time since then is data's. */
void orr_times_data_slow(struct orr_worker *w);
/* The worker has taken a task, after a time without one. */
void orr_times_take_slow(struct orr_worker *w, const struct orr_task *t);
/* At the start of the process, before its first worker. */
void orr_times_init(struct orr_process *proc);
/* Profiling begins: so do the causes of the process. */
void orr_times_begin(struct orr_process *proc);
/* Begins the worker's record anew; with its local_lock held. */
void orr_times_restart(struct orr_worker *w);
/* Closes the present interval of the worker's record; with its local_lock held. */
void orr_times_close(struct orr_worker *w);

/* The kernel of the worker has ended, and with it the runtime's work around it; now. */
void orr_times_kernel_slow(struct orr_worker *w, double now_us);
/* This thread makes the task ready, now: notes by what cause. Requires profiling. */
void orr_times_ready(struct orr_process *proc, struct orr_task *t, double now_us);
/* The program has inserted a foreign task, which took that long. */
void orr_times_foreign(struct orr_process *proc, double us);

static inline void orr_times_kernel(struct orr_worker *w, const struct orr_process *proc,
				    double now_us)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling), 0))
		orr_times_kernel_slow(w, now_us);
}

static inline void orr_times_change(struct orr_worker *w, const struct orr_process *proc,
				    enum orr_time was, enum orr_time next, double now_us)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling), 0))
		orr_times_change_slow(w, was, next, now_us);
}

static inline void orr_times_data(struct orr_worker *w, const struct orr_process *proc)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling), 0))
		orr_times_data_slow(w);
}

static inline void orr_times_take(struct orr_worker *w, const struct orr_process *proc,
				  const struct orr_task *t)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling), 0))
		orr_times_take_slow(w, t);
}

#endif
