/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The use that workers make of their time, while profiling is on (times.h).
 *
 * Invariant: an interval is added to one kind of time, or divided so that the parts add up to it;
 * nothing is counted twice and nothing is left out. */
#include "core/task/times.h"
#include "core/worker/worker_life.h"

#include <orrery.h>

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/upcalls.h"
#include "core/task/task.h"

/* A time without a task begins: takes note of the causes. */
static void begin_idle(struct orr_worker *w)
{
	struct orr_causes *c = &w->group->proc->core->causes;

	orr_lock(&c->lock);
	memcpy(w->times.causes_us, c->us, sizeof(c->us));
	orr_unlock(&c->lock);
}

void orr_times_restart(struct orr_worker *w)
{
	memset(w->times.spent_us, 0, sizeof(w->times.spent_us));
	w->times.since_us = orr_sys_now_us();
	begin_idle(w);
}

/* The interval up to `now_us` was of that kind. */
static void spend(struct orr_worker *w, enum orr_time kind, double now_us)
{
	orr_assert_locked(&w->local_lock);
	orr_assert(kind < ORR_NTIMES);
	if (now_us <= w->times.since_us)
		return;
	w->times.spent_us[kind] += now_us - w->times.since_us;
	w->times.since_us = now_us;
}

void orr_times_change_slow(struct orr_worker *w, enum orr_time was, enum orr_time next,
			   double now_us)
{
	orr_worker_assert_mine(w);
	orr_lock(&w->local_lock);
	spend(w, was, now_us);
	w->times.present = (uint8_t) next;
	if (next == ORR_TIME_IDLE)
		begin_idle(w);
	orr_unlock(&w->local_lock);
}

void orr_times_data_slow(struct orr_worker *w)
{
	orr_worker_assert_mine(w);
	orr_lock(&w->local_lock);
	if (w->times.present == ORR_TIME_RUNTIME)
		w->times.present = ORR_TIME_DATA;
	orr_unlock(&w->local_lock);
}

void orr_times_kernel_slow(struct orr_worker *w, double now_us)
{
	orr_worker_assert_mine(w);
	orr_lock(&w->local_lock);
	/* The longer of the two would be an interval that began before profiling did. */
	double begin_us = w->times.since_us + w->kernel.before_us;
	double end_us = now_us - w->kernel.after_us;
	spend(w, ORR_TIME_RUNTIME, begin_us < now_us ? begin_us : now_us);
	spend(w, w->task->copies ? ORR_TIME_DATA : ORR_TIME_KERNEL, end_us);
	spend(w, ORR_TIME_RUNTIME, now_us);
	w->times.present = ORR_TIME_RUNTIME;
	orr_unlock(&w->local_lock);
}

/* The worker waited until then for the program: part of that time it inserted foreign tasks. */
static void spend_submission(struct orr_worker *w, double until_us)
{
	struct orr_causes *c = &w->group->proc->core->causes;
	double foreign_us;

	orr_lock(&c->lock);
	foreign_us = c->us[ORR_TIME_FOREIGN] - w->times.causes_us[ORR_TIME_FOREIGN];
	orr_unlock(&c->lock);
	double at_us = w->times.since_us + foreign_us;
	spend(w, ORR_TIME_FOREIGN, at_us < until_us ? at_us : until_us);
	spend(w, ORR_TIME_SUBMISSION, until_us);
}

void orr_times_take_slow(struct orr_worker *w, const struct orr_task *t)
{
	double now_us = orr_sys_now_us();

	orr_worker_assert_mine(w);
	orr_assertf(t->cause < ORR_NCAUSES, "cause %u made task %s ready", t->cause,
		    orr_task_name(t->pub));
	orr_lock(&w->local_lock);
	double ready_us = t->ready_us < now_us ? t->ready_us : now_us;
	if (t->cause == ORR_TIME_SUBMISSION)
		spend_submission(w, ready_us);
	else
		spend(w, (enum orr_time) t->cause, ready_us);
	spend(w, ORR_TIME_RUNTIME, now_us);
	w->times.present = ORR_TIME_RUNTIME;
	orr_unlock(&w->local_lock);
}

static enum orr_time cause_of(struct orr_process *proc)
{
	struct orr_thread *self = orr_thread_self();

	if (proc->mpi_up && proc->mpi_up->drives(proc, self))
		return ORR_TIME_MESSAGE;
	return self->worker || self->task ? ORR_TIME_IDLE : ORR_TIME_SUBMISSION;
}

void orr_times_ready(struct orr_process *proc, struct orr_task *t, double now_us)
{
	struct orr_causes *c = &proc->core->causes;

	t->cause = (uint8_t) cause_of(proc);
	orr_lock(&c->lock);
	if (now_us > c->since_us) {
		c->us[t->cause] += now_us - c->since_us;
		c->since_us = now_us;
	}
	orr_unlock(&c->lock);
}

void orr_times_foreign(struct orr_process *proc, double us)
{
	struct orr_causes *c = &proc->core->causes;

	orr_assertf(us >= 0, "an insertion takes %g us", us);
	orr_lock(&c->lock);
	c->us[ORR_TIME_FOREIGN] += us;
	orr_unlock(&c->lock);
}

void orr_times_init(struct orr_process *proc)
{
	struct orr_causes *c = &proc->core->causes;

	orr_lock_init(&c->lock, ORR_RANK_CAUSES);
	c->since_us = orr_sys_now_us();
}

void orr_times_begin(struct orr_process *proc)
{
	struct orr_causes *c = &proc->core->causes;

	orr_lock(&c->lock);
	memset(c->us, 0, sizeof(c->us));
	c->since_us = orr_sys_now_us();
	orr_unlock(&c->lock);
}

/* A time without a task that no task has ended yet. Up to the last task that became ready it is
 * divided as the causes of the process are; since then nothing has made a task ready. */
static void close_idle(struct orr_worker *w, double now_us)
{
	const struct orr_causes *c = &w->group->proc->core->causes;
	double us[ORR_NCAUSES], sum = 0, part = c->since_us - w->times.since_us;

	orr_assert_locked(&c->lock);

	for (unsigned i = 0; i < ORR_NCAUSES; i++)
		us[i] = c->us[i] - w->times.causes_us[i];
	if (us[ORR_TIME_FOREIGN] > us[ORR_TIME_SUBMISSION])
		us[ORR_TIME_FOREIGN] = us[ORR_TIME_SUBMISSION];
	us[ORR_TIME_SUBMISSION] -= us[ORR_TIME_FOREIGN];
	for (unsigned i = 0; i < ORR_NCAUSES; i++)
		sum += us[i];
	if (part > 0 && sum > 0) {
		for (unsigned i = 0; i < ORR_NCAUSES; i++)
			w->times.spent_us[i] += part * us[i] / sum;
		w->times.since_us += part;
	}
	spend(w, ORR_TIME_IDLE, now_us);
}

void orr_times_close(struct orr_worker *w)
{
	struct orr_causes *c = &w->group->proc->core->causes;
	double now_us = orr_sys_now_us();

	orr_assert_locked(&w->local_lock);
	orr_assert(w->times.present < ORR_NTIMES);
	if (w->times.present != ORR_TIME_IDLE) {
		spend(w, (enum orr_time) w->times.present, now_us);
		return;
	}
	orr_lock(&c->lock);
	close_idle(w, now_us);
	orr_unlock(&c->lock);
	begin_idle(w);
}

int orrery_worker_times(int worker, struct orrery_worker_times *times)
{
	struct orr_process *proc = orr_self();
	struct orrery_worker_times sum = { 0 };

	if (worker < -1 || (worker >= 0 && (unsigned) worker >= proc->core->nworkers))
		return -EINVAL;
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		struct orr_worker *w = &proc->core->workers[i];
		const double *us = w->times.spent_us;

		if (worker >= 0 && i != (unsigned) worker)
			continue;
		orr_lock(&w->local_lock);
		if (ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling))
			orr_times_close(w);
		sum.kernels_us += us[ORR_TIME_KERNEL];
		sum.data_us += us[ORR_TIME_DATA];
		sum.messages_us += us[ORR_TIME_MESSAGE];
		sum.submission_us += us[ORR_TIME_SUBMISSION];
		sum.foreign_us += us[ORR_TIME_FOREIGN];
		sum.idle_us += us[ORR_TIME_IDLE];
		sum.runtime_us += us[ORR_TIME_RUNTIME];
		orr_unlock(&w->local_lock);
	}
	*times = sum;
	return 0;
}
