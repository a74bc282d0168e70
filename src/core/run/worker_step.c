/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state machine of a worker.
 *
 * idle -> fetching -> running -> idle; completion is part of leaving `running`. The worker of a
 * device takes its next task while a kernel runs, so that the data come meanwhile; when the kernel
 * is over the next task is the task, fetching or already fetched.
 *
 * Invariant: a step never blocks. */
#include "core/run/worker_step.h"

#include "core/worker/device.h"
#include "core/flow/dispatch.h"
#include "core/run/execute.h"
#include "core/run/inputs.h"
#include "core/worker/nap.h"
#include "core/flow/parallel.h"
#include "core/worker/worker.h"
#include "core/task/task.h"
#include "core/task/task_trace.h"
#include "core/task/times.h"

/* Takes a task and asks for its data. */
static void begin_task(struct orr_worker *w, struct starpu_task *task, struct orr_thread *self)
{
	struct orr_task *t = orr_task_of(task);

	orr_times_take(w, self->proc, t);
	orr_worker_trace_take(w, self->proc);
	orr_assertf(!w->task && !w->next && !w->later, "worker %u takes task %s and has another",
		    w->id, orr_task_name(task));
	orr_execute_prepare(w, t);
	ORR_ATOMIC_STORE_RELAXED(&w->task, t);
	w->waits = 0;
	if (!t->owner.naccess) {
		orr_execute_start(w, self);
		return;
	}
	orr_worker_go(w, ORR_WORKER_FETCHING);
	if (orr_inputs_begin(w, t, self) == ORR_INPUTS_READY)
		orr_execute_start(w, self);
}

/* Takes the next task, and asks for its data. */
static int take_next(struct orr_worker *w, struct orr_thread *self)
{
	struct starpu_task *task = orr_dispatch_pop(w, self->proc);
	struct orr_task *t;

	if (!task)
		return 0;
	orr_assert(!w->next && w->pipeline > 1 && w->state == ORR_WORKER_RUNNING);
	w->next = t = orr_task_of(task);
	w->waits &= 1;
	orr_execute_prepare(w, t);
	t->nfetching = 0;
	t->starved = NULL;
	if (t->owner.naccess)
		orr_inputs_begin(w, t, self);
	return 1;
}

/* The worker of a device has a kernel running: the next task's data may come meanwhile. If the
 * device has a queue, the next kernel is started behind those that are under way. */
static int step_device(struct orr_worker *w, struct orr_thread *self)
{
	if (w->later && w->driver->test(w, &w->launch)) {
		orr_execute_finish(w, self);
		return 1;
	}
	if (!w->next)
		return w->nahead + 2 <= w->pipeline && take_next(w, self);
	switch (orr_inputs_step_next(w, self)) {
	case ORR_INPUTS_READY:
		return w->later && w->driver->queues(w, w->next) && orr_execute_queue(w, self);
	case ORR_INPUTS_ADVANCED: return 1;
	default: return 0;
	}
}

/* The data of a worker's task are on their way. */
static int step_fetching(struct orr_worker *w, struct orr_thread *self)
{
	enum orr_inputs step = orr_inputs_step(w, self);

	if (step == ORR_INPUTS_READY)
		orr_execute_start(w, self);
	return step != ORR_INPUTS_IDLE;
}

/* The worker was chosen for a parallel task. */
static int join(struct orr_worker *w)
{
	if (w->asleep)
		orr_nap_end(w);
	orr_parallel_join(w);
	return 1;
}

/* A worker that has a task, or is a member of a parallel one. */
static int step_busy(struct orr_worker *w, struct orr_thread *self)
{
	int ret;

	switch (w->state) {
	case ORR_WORKER_FETCHING: return step_fetching(w, self);
	case ORR_WORKER_RUNNING:
		if (__builtin_expect(w->member != NULL, 0)) {
			if (!orr_parallel_is_over(w))
				return 0;
			orr_execute_finish(w, self);
			return 1;
		}
		return w->pipeline ? step_device(w, self) : 0; /* in the heap */
	case ORR_WORKER_JOINED:
		ret = orr_parallel_step(w, self);
		if (ret == 2)
			begin_task(w, w->member->p->task->pub, self);
		return ret != 0;
	case ORR_WORKER_IDLE: break;
	}
	orr_assert(w->state != ORR_WORKER_IDLE);
	return 0;
}

/* The fields of a worker that follow from its state. */
static void check_fields(const struct orr_worker *w)
{
	const struct orr_task *t = w->task;

	(void) t;
	orr_assertf(!t == (w->state == ORR_WORKER_IDLE || w->state == ORR_WORKER_JOINED),
		    "worker %u is in state %d and has %s task", w->id, w->state, t ? "a" : "no");
	orr_assertf(!t || t->worker == w, "worker %u has the task of another one", w->id);
	orr_assert(!w->later || w->state == ORR_WORKER_RUNNING);
	orr_assert((!w->next && !w->nahead) || (w->pipeline && w->state == ORR_WORKER_RUNNING));
	orr_assert(w->state != ORR_WORKER_IDLE || (!w->member && !w->starving));
	orr_assert(w->state != ORR_WORKER_JOINED ||
		   (w->member && ORR_ATOMIC_LOAD(&w->member->p->refs)));
}

int orr_worker_step(struct orr_worker *w, struct orr_thread *self)
{
	struct starpu_task *task;

	check_fields(w);
	orr_worker_enter(self, w);
	if (w->state != ORR_WORKER_IDLE)
		return step_busy(w, self);
	if (__builtin_expect(ORR_ATOMIC_LOAD(&w->joins) != NULL, 0) &&
	    !ORR_ATOMIC_LOAD(&self->proc->core->paused))
		return join(w);
	task = orr_dispatch_pop(w, self->proc);
	if (!task)
		return 0;
	if (__builtin_expect(w->asleep, 0))
		orr_nap_end(w);
	begin_task(w, task, self);
	return 1;
}
