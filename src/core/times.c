/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The use that workers make of their time, while profiling is on (times.h).
 *
 * Invariant: an interval is added to one kind of time, or divided at the moment when the task was
 * ready; nothing is counted twice and nothing is left out. */
#include "core/times.h"

#include <orrery.h>

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/upcalls.h"
#include "core/task.h"

void orr_times_restart(struct orr_worker *w)
{
	memset(w->times.spent_us, 0, sizeof(w->times.spent_us));
	w->times.since_us = orr_sys_now_us();
}

/* The interval up to `now_us` was of that kind. */
static void spend(struct orr_worker *w, enum orr_time kind, double now_us)
{
	orr_assert(kind < ORR_NTIMES);
	if (now_us <= w->times.since_us)
		return;
	w->times.spent_us[kind] += now_us - w->times.since_us;
	w->times.since_us = now_us;
}

void orr_times_change_slow(struct orr_worker *w, enum orr_time was, enum orr_time next)
{
	double now_us = orr_sys_now_us();

	orr_lock(&w->local_lock);
	spend(w, was, now_us);
	w->times.present = (uint8_t) next;
	orr_unlock(&w->local_lock);
}

void orr_times_take_slow(struct orr_worker *w, const struct orr_task *t)
{
	double now_us = orr_sys_now_us();

	orr_lock(&w->local_lock);
	spend(w, (enum orr_time) t->cause, t->ready_us < now_us ? t->ready_us : now_us);
	spend(w, ORR_TIME_RUNTIME, now_us);
	w->times.present = ORR_TIME_DATA;
	orr_unlock(&w->local_lock);
}

enum orr_time orr_times_cause(struct orr_process *proc)
{
	struct orr_thread *self = orr_thread_self();

	if (proc->mpi_up && proc->mpi_up->drives(proc, self))
		return ORR_TIME_MESSAGE;
	return self->worker || self->task ? ORR_TIME_IDLE : ORR_TIME_SUBMISSION;
}

void orr_times_close(struct orr_worker *w)
{
	spend(w, (enum orr_time) w->times.present, orr_sys_now_us());
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
		if (ORR_ATOMIC_LOAD_RELAXED(&proc->cfg.profiling))
			orr_times_close(w);
		sum.kernels_us += us[ORR_TIME_KERNEL];
		sum.data_us += us[ORR_TIME_DATA];
		sum.messages_us += us[ORR_TIME_MESSAGE];
		sum.submission_us += us[ORR_TIME_SUBMISSION];
		sum.idle_us += us[ORR_TIME_IDLE];
		sum.runtime_us += us[ORR_TIME_RUNTIME];
		orr_unlock(&w->local_lock);
	}
	*times = sum;
	return 0;
}
