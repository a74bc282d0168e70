/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of ready tasks to workers: through a policy, or to the one worker that the program named.
 *
 * Invariant: a task that was dispatched belongs to the policy, or stands in one worker's list,
 * until one worker takes it. */
#include "base/refuse.h"
#include "core/flow/dispatch.h"

#include "core/flow/parallel.h"
#include "core/flow/profiling.h"
#include "core/ctx/sched_ctx.h"
#include "core/worker/wake.h"
#include "core/worker/worker.h"
#include "core/ctx/combined.h"
#include "core/task/task_life.h"
#include "core/flow/team.h"
#include "core/task/times.h"

static void push_local(struct orr_worker *w, struct starpu_task *task)
{
	orr_task_assert_of(orr_task_of(task), ORR_TASK_OF_POLICY);
	orr_lock(&w->local_lock);
	orr_assertf(!starpu_task_list_ismember(&w->local, task), "task %s comes to worker %u twice",
		    orr_task_name(task), w->id);
	starpu_task_list_push_back(&w->local, task);
	ORR_ATOMIC_STORE(&w->nlocal, w->nlocal + 1);
	orr_unlock(&w->local_lock);
	orr_wake_worker(w);
}

/* The first task that is not waiting for its place in the worker's order. */
static struct starpu_task *pop_local(struct orr_worker *w)
{
	struct starpu_task *task;

	if (!ORR_ATOMIC_LOAD(&w->nlocal))
		return NULL;
	orr_lock(&w->local_lock);
	orr_assertf((w->nlocal == 0) == starpu_task_list_empty(&w->local),
		    "worker %u counts %u tasks in its list", w->id, w->nlocal);
	for (task = starpu_task_list_begin(&w->local); task; task = starpu_task_list_next(task))
		if (!task->workerorder || task->workerorder == w->next_order + 1)
			break;
	if (task) {
		starpu_task_list_erase(&w->local, task);
		ORR_ATOMIC_STORE(&w->nlocal, w->nlocal - 1);
		if (task->workerorder)
			w->next_order++;
	}
	orr_unlock(&w->local_lock);
	return task;
}

void orr_dispatch_combined(struct orr_process *proc, struct orr_task *t,
			   const struct orr_combined *c)
{
	const struct starpu_sched_policy *policy = proc->core->ctx[t->ctx]->policy;

	orr_task_assert_of(t, ORR_TASK_OF_POLICY);
	for (unsigned i = 0; i < c->n && policy->push_task_notify; i++)
		policy->push_task_notify(t->pub, c->workers[i], (int) c->id, t->ctx);
	orr_parallel_launch(proc, t, c);
}

void orr_dispatch_local(struct orr_process *proc, struct orr_task *t, unsigned worker)
{
	struct starpu_sched_policy *policy = proc->core->ctx[t->ctx]->policy;

	orr_assert(worker < proc->core->nworkers);
	if (policy->push_task_notify)
		policy->push_task_notify(t->pub, (int) worker, (int) worker, t->ctx);
	push_local(&proc->core->workers[worker], t->pub);
}

void orr_dispatch_push(struct orr_task *t)
{
	struct starpu_task *task = t->pub;
	struct orr_process *proc = orr_self();

	orr_assert_no_lock();
	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&t->state) == ORR_TASK_READY && !t->worker && !t->team,
		    "task %s goes to a worker and is not ready", orr_task_name(task));
	orr_task_pass(t, ORR_TASK_OF_DATA, ORR_TASK_OF_POLICY);
	if (proc->core->counts_ready)
		ORR_ATOMIC_ADD(&proc->core->nready, 1);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->prio_caps) != 0, 0))
		orr_ctx_cap(proc, t);
	if (proc->perf_timing)
		t->ready_us = orr_sys_now_us();
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling), 0))
		orr_times_ready(proc, t, t->ready_us);
	if (task->profiling_info) {
		orr_profiling_stamp(t, offsetof(struct starpu_profiling_task_info, push_start_time),
				    t->ready_us);
		task->profiling_info->push_end_time = task->profiling_info->push_start_time;
	}
	if (task->execute_on_a_specific_worker) {
		if (__builtin_expect(task->workerid >= proc->core->nworkers, 0))
			orr_dispatch_combined(proc, t, orr_combined_get(proc, task->workerid));
		else
			orr_dispatch_local(proc, t, task->workerid);
		return;
	}
	if (__builtin_expect(ORR_ATOMIC_LOAD(&proc->core->teams) != NULL, 0) &&
	    task->possibly_parallel && orr_team_push(proc, t))
		return;
	orr_ctx_push(proc, t);
}

/* A task for the worker, from its own list or from the policy. */
static struct starpu_task *find_task(struct orr_worker *w, struct orr_process *proc)
{
	struct starpu_task *task = pop_local(w);

	if (task)
		return task;
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&w->ctxs) != 1, 0))
		return orr_ctx_pop(w, proc);
	return proc->core->ctx0.policy->pop_task(0);
}

struct starpu_task *orr_dispatch_pop(struct orr_worker *w, struct orr_process *proc)
{
	struct starpu_task *task;

	orr_worker_assert_mine(w);
	orr_assert_no_lock();
	/* Tasks that start after a pause see all that came before its end. */
	if (ORR_ATOMIC_LOAD(&proc->core->paused) ||
	    __builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&w->disabled), 0))
		return NULL;
	task = w->kept;
	if (__builtin_expect(task != NULL, 0))
		w->kept = NULL;
	else
		task = find_task(w, proc);
	/* A worker that finds a task that was submitted during a pause sees the pause, although it
	 * had not begun when he came. */
	if (task && __builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->paused), 0)) {
		orr_assertf(!w->kept, "worker %u keeps two tasks during a pause", w->id);
		w->kept = task;
		return NULL;
	}
	if (task && proc->core->counts_ready) {
		orr_assertf(ORR_ATOMIC_LOAD(&proc->core->nready), "task %s was ready unnoticed",
			    orr_task_name(task));
		ORR_ATOMIC_ADD(&proc->core->nready, (unsigned) -1);
	}
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&w->ctxs) != 1, 0) && task)
		return orr_team_take(w, proc, task);
	return task;
}

void starpu_task_notify_ready_soon_register(starpu_notify_ready_soon_func f, void *data)
{
	(void) f;
	(void) data;
	orr_refuse(__func__, "ends of tasks are not predicted for that; use push_task of a policy");
}
