/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for tasks, throttling submission.
 *
 * Invariant: a thread that waits sleeps on proc->done and is woken at the latest when a worker runs
 * out of work. */
#include "core/flow/wait.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "base/notice.h"
#include "base/park.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/flow/tag.h"
#include "core/task/task.h"
#include "core/task/task_count.h"
#include "core/task/task_dump.h"
#include "trace/trace.h"
#include "base/config.h"

/* 0, or -EDEADLK after a message when the caller is a task or a callback. */
static int may_wait(const char *what)
{
	struct orr_task *t = orr_thread_self()->task;

	if (!t)
		return 0;
	orr_error("%s called inside task or callback %s, which would wait for itself", what,
		  orr_task_name(t->pub));
	return -EDEADLK;
}

/* Any context. */
#define ALL_CTXS STARPU_NMAX_SCHED_CTXS

static uint64_t npending(struct orr_process *proc, unsigned ctx)
{
	return ctx == ALL_CTXS ? orr_task_npending(proc) : orr_ctx_npending(proc, ctx);
}

static void wait_watchdog(struct orr_process *proc)
{
	struct orr_notice n;

	if (orr_sys_now_us() - proc->start_us < (double) proc->cfg->watchdog_delay_us)
		return;
	orr_warn("no task completed for %.1f s (STARPU_WATCHDOG_TIMEOUT); what waits:",
		 (double) proc->cfg->watchdog_us * 1e-6);
	orr_task_dump(proc, orr_notice_open(&n), 50);
	orr_tag_dump(proc, n.f);
	orr_notice_write(&n);
	void (*hook)(void *) = ORR_ATOMIC_LOAD(&proc->core->watchdog_hook);
	if (hook)
		hook(proc->core->watchdog_arg);
	if (proc->cfg->watchdog_crash)
		orr_sys_abort();
}

/* Waits until at most n tasks of a context are pending; prompt: told of each completion rather than
 * when workers run dry. */
static int wait_pending(const char *what, unsigned ctx, uint64_t n, int prompt)
{
	struct orr_process *proc = orr_self();
	int ret = may_wait(what);

	if (ret)
		return ret;
	if (proc->state == ORR_PROCESS_DOWN)
		return -ENODEV;
	orr_assert_no_lock();
	orr_sys_settle(orr_thread_self());
	orr_about_to_wait(proc);
	double since_us = orr_trace_wait_begin(proc);

	if (prompt)
		ORR_ATOMIC_ADD(&proc->core->ndone_waiters, 1);
	while (npending(proc, ctx) > n) {
		unsigned key = orr_waitq_prepare(&proc->done);
		int stuck = 0;

		if (npending(proc, ctx) <= n) {
			orr_waitq_cancel(&proc->done);
		} else {
			if (proc->cfg->watchdog_us > 0) {
				uint64_t before = orr_task_ncompleted(proc);

				if (orr_waitq_wait(&proc->done, key,
						   (double) proc->cfg->watchdog_us) &&
				    before == orr_task_ncompleted(proc))
					wait_watchdog(proc);
			} else {
				stuck = orr_park_wait(proc, key, what);
			}
			orr_sys_progress(proc);
			if (stuck && npending(proc, ctx) > n)
				orr_park_stuck(proc, what);
		}
	}
	if (since_us >= 0 && proc->trace)
		orr_trace_waited(proc, since_us, what, 0);
	orr_assert(!prompt || ORR_ATOMIC_LOAD(&proc->core->ndone_waiters) > 0);
	if (prompt)
		ORR_ATOMIC_ADD(&proc->core->ndone_waiters, -1);
	if (!n)
		ORR_ATOMIC_ADD_RELAXED(
			ctx == ALL_CTXS ? &proc->core->phase : &proc->core->ctx[ctx]->phase, 1);
	return 0;
}

/* The context to which the thread's choice limits the waiting. */
static unsigned chosen_ctx(void)
{
	unsigned ctx = orr_thread_self()->ctx;

	return ctx ? ctx - 1 : ALL_CTXS;
}

int starpu_task_wait_for_all(void)
{
	return wait_pending("starpu_task_wait_for_all", chosen_ctx(), 0, chosen_ctx() != ALL_CTXS);
}

int starpu_task_wait_for_n_submitted(unsigned n)
{
	return wait_pending("starpu_task_wait_for_n_submitted", chosen_ctx(), n, 1);
}

static int wait_in_ctx(const char *what, unsigned id, unsigned n)
{
	return orr_ctx_get(id, what) ? wait_pending(what, id, n, 1) : -EINVAL;
}

int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id)
{
	return wait_in_ctx("starpu_task_wait_for_all_in_ctx", sched_ctx_id, 0);
}

int starpu_task_wait_for_n_submitted_in_ctx(unsigned sched_ctx_id, unsigned n)
{
	return wait_in_ctx("starpu_task_wait_for_n_submitted_in_ctx", sched_ctx_id, n);
}

int starpu_task_wait_for_no_ready(void)
{
	struct orr_process *proc = orr_self();
	int ret = may_wait("starpu_task_wait_for_no_ready");

	if (ret)
		return ret;
	orr_about_to_wait(proc);
	while (starpu_task_nready() > 0) {
		unsigned key = orr_waitq_prepare(&proc->done);

		if (starpu_task_nready() == 0)
			orr_waitq_cancel(&proc->done);
		else
			orr_waitq_wait(&proc->done, key, 10000);
	}
	return 0;
}

int starpu_task_finished(struct starpu_task *task)
{
	struct orr_task *t = task->starpu_private;

	return t && ORR_ATOMIC_LOAD(&t->state) == ORR_TASK_DONE;
}

int starpu_task_wait(struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct orr_task *t = task->starpu_private;
	int ret = may_wait("starpu_task_wait");

	if (ret)
		return ret;
	if (task->detach) {
		orr_error(
			"starpu_task_wait: task %s is detached, set task->detach to 0 before submitting it",
			orr_task_name(task));
		return -EINVAL;
	}
	if (!t ||
	    (ORR_ATOMIC_LOAD(&t->state) == ORR_TASK_NEW && !ORR_ATOMIC_LOAD_RELAXED(&t->renewed))) {
		orr_error("starpu_task_wait: task %s was not submitted", orr_task_name(task));
		return -EINVAL;
	}
	orr_sys_settle(orr_thread_self());
	orr_about_to_wait(proc);
	double since_us = orr_trace_wait_begin(proc);

	ORR_PARK_UNTIL(proc, "starpu_task_wait", ORR_ATOMIC_LOAD(&t->state) == ORR_TASK_DONE);
	if (since_us >= 0 && proc->trace)
		orr_trace_waited(proc, since_us, "starpu_task_wait", ORR_CAUSE_TASK | t->job_id);
	if (task->destroy)
		starpu_task_destroy(task);
	return 0;
}

int starpu_task_wait_array(struct starpu_task **tasks, unsigned nb_tasks)
{
	for (unsigned i = 0; i < nb_tasks; i++) {
		int ret = starpu_task_wait(tasks[i]);

		if (ret)
			return ret;
	}
	return 0;
}

void starpu_set_limit_max_submitted_tasks(int limit_max)
{
	ORR_ATOMIC_STORE_RELAXED(&orr_config_own(orr_self())->max_submitted, limit_max);
}

void starpu_set_limit_min_submitted_tasks(int limit_min)
{
	ORR_ATOMIC_STORE_RELAXED(&orr_config_own(orr_self())->min_submitted, limit_min);
}

void orr_wait_throttle(struct orr_process *proc)
{
	long max = ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->max_submitted),
	     min = ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->min_submitted);

	if (max <= 0 || orr_thread_self()->task || (long) orr_task_npending(proc) <= max)
		return;
	wait_pending("task submission", ALL_CTXS, (uint64_t) (min > 0 && min < max ? min : max), 1);
}

void starpu_task_watchdog_set_hook(void (*hook)(void *), void *hook_arg)
{
	struct orr_core *core = orr_self()->core;

	core->watchdog_arg = hook_arg;
	ORR_ATOMIC_STORE(&core->watchdog_hook, hook);
}
