/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Submission: checks a task, counts it, and enters it in the queues of its data.
 *
 * Invariant: submission fails before anybody else sees the task, or not at all. */
#include "core/flow/task_submit.h"

#include <errno.h>

#include "base/log.h"
#include "core/task/codelet.h"
#include "core/task/graph.h"
#include "core/flow/monitor.h"
#include "core/flow/profiling.h"
#include "core/ctx/sched_ctx.h"
#include "core/flow/tag.h"
#include "core/flow/task_check.h"
#include "core/flow/task_data.h"
#include "core/task/task_impl.h"
#include "core/task/task_life.h"
#include "core/flow/task_retry.h"
#include "core/flow/task_state.h"
#include "core/task/task_trace.h"
#include "core/flow/transaction.h"
#include "core/flow/wait.h"
#include "core/task/task.h"

/* The kinds of units that may execute the task, as far as this process has units of them. */
static uint32_t task_where(const struct orr_process *proc, const struct starpu_task *task)
{
	const struct starpu_codelet *cl = task->cl;

	if (!cl)
		return STARPU_NOWHERE;
	if (task->where != -1)
		return orr_where_meant((uint32_t) task->where);
	if (!cl->where && cl->cpu_funcs[0] && proc->arch_mask == STARPU_CPU)
		return STARPU_CPU; /* the other kinds' implementations need no look */

	uint32_t where = orr_codelet_where(cl);

	if (__builtin_expect(where & STARPU_MPI_MS, 0) && !orr_task_can_travel(task))
		where &= ~(uint32_t) STARPU_MPI_MS;
	return where;
}

/* Gives a task its codelet's properties. Its model stands beside what workers count, in the cache
 * of another core, so it is looked at once for tasks of one codelet; a model that comes later is
 * initialised where it is used first. */
static inline void inherit(struct orr_thread *self, struct starpu_task *task,
			   const struct starpu_codelet *cl)
{
	if (self->submits != cl) {
		self->submits = cl;
		if (cl->model && !cl->model->is_init)
			starpu_perfmodel_init(cl->model);
	}
	if (!task->callback_func)
		task->callback_func = cl->callback_func;
}

static int submit(struct starpu_task *task, int internal, int nodeps, struct orr_round_end *end)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_process *proc = self->proc;
	struct orr_task *t;
	struct orr_ctx *ctx = &proc->core->ctx0;
	int ret, synchronous = task->synchronous;
	uint32_t where;

	if (__builtin_expect(proc->state != ORR_PROCESS_UP && proc->state != ORR_PROCESS_STARTING,
			     0)) {
		orr_error("task %s submitted without starpu_init", orr_task_name(task));
		return -ENODEV;
	}
	orr_sys_charge(self, ORR_COST_SUBMIT);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling), 0))
		orr_sys_charge(self, ORR_COST_PROFILE_SUBMIT);
	orr_sys_charge_times(self, ORR_COST_ACCESS,
			     task->cl ? (unsigned) STARPU_TASK_GET_NBUFFERS(task) : 0);
	orr_sys_settle(self);
	if (synchronous && self->task) {
		orr_error(
			"task %s: synchronous submission from inside a task or callback would deadlock",
			orr_task_name(task));
		return -EDEADLK;
	}
	t = orr_task_private(task);
	if (!t)
		return -ENOMEM;
	if (!internal) {
		unsigned id = task->sched_ctx == STARPU_NMAX_SCHED_CTXS ? orr_ctx_current(self)
									: task->sched_ctx;

		if (__builtin_expect(id != 0, 0)) {
			if (orr_ctx_check(proc, id, task))
				return -EINVAL;
			ctx = proc->core->ctx[id];
		}
	}
	where = task_where(proc, task);
	if (__builtin_expect(t->borrows, 0))
		nodeps = 1;
	ret = orr_task_check(proc, task, t, where, internal || t->borrows, ctx);
	if (ret)
		return ret;
	if (__builtin_expect(t->state >= ORR_TASK_AGAIN, 0))
		orr_task_renew(t);
	t->where = where;
	ret = orr_task_data_reserve(t, orr_task_nbuffers(task));
	if (!ret && __builtin_expect(task->transaction != NULL, 0))
		ret = orr_transaction_enter(t);
	if (ret) {
		ORR_ATOMIC_STORE_RELAXED(&t->renewed, 0);
		return ret;
	}
	orr_assertf(ORR_ATOMIC_LOAD(&t->owner.ndeps) >= 1 && ORR_ATOMIC_LOAD(&t->nend_deps) >= 1,
		    "task %s does not wait for its own submission", orr_task_name(task));
	orr_assert(!t->terminated && !t->ended && !t->owner.held && !t->parallel);
	/* From here on nothing fails: others see the task. */
	if (task->cl)
		inherit(self, task, task->cl);
	if (synchronous)
		task->detach = 0;
	t->internal = (uint8_t) internal;
	ORR_ATOMIC_STORE_RELAXED(&t->ctx, (uint8_t) ctx->id);
	__atomic_store(&t->flops, &task->flops, __ATOMIC_RELAXED);
	task->sched_ctx = ctx->id;
	t->user_wait = !task->detach;
	t->auto_destroy = task->detach & task->destroy;
	orr_task_give_number(proc, t);
	if (!internal)
		ORR_ATOMIC_ADD_RELAXED(&proc->core->nsubmitted, 1);
	if (__builtin_expect(t->ctx != 0, 0))
		ORR_ATOMIC_ADD(&ctx->nsubmitted, 1);
	if (__builtin_expect(proc->cfg->profiling, 0))
		orr_profiling_submit(t);
	orr_task_trace(proc, ORR_TRACE_SUBMIT, t, -1, 0);
	if (__builtin_expect(orr_monitor_on(proc), 0) && !internal)
		orr_monitor_submit_slow(proc, t);
	orr_task_go(t, ORR_TASK_BLOCKED);
	orr_task_pass(t, ORR_TASK_OF_PROGRAM, ORR_TASK_OF_COUNTER);
	task->status = STARPU_TASK_BLOCKED;
	if (ctx->policy && ctx->policy->submit_hook && !internal)
		ctx->policy->submit_hook(task);
	if (__builtin_expect(ORR_ATOMIC_LOAD(&proc->core->graph) != NULL, 0))
		orr_graph_submit(proc, t, nodeps);
	if (task->use_tag)
		orr_tag_task_submitted(t);
	if (t->owner.naccess)
		orr_task_data_submit(t, nodeps);
	if (__builtin_expect(proc->trace != NULL, 0))
		orr_task_trace_after(proc, t);
	if (__builtin_expect(end != NULL, 0))
		orr_task_announce(t, end);
	if (__builtin_expect(t->borrows, 0))
		orr_task_retry_borrow(t);
	orr_task_release(t); /* the submission itself; t may be gone from here on */
	if (synchronous)
		return starpu_task_wait(task);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->max_submitted) > 0, 0))
		orr_wait_throttle(proc);
	return 0;
}

/* A task whose end is under way (its callback runs, say) is submitted again when that is over.
 * Returns 1 if so, 0 if it can be submitted now, or there is a mistake in it. */
static int submit_later(const struct starpu_task *task, int nodeps)
{
	struct orr_task *t = orr_task_of(task);
	uint8_t ended = ORR_TASK_ENDED;

	if (!t || ORR_ATOMIC_LOAD(&t->state) != ORR_TASK_ENDED)
		return 0;
	orr_task_may_go(t, ORR_TASK_AGAIN);
	ORR_ATOMIC_STORE_RELAXED(&t->again_nodeps, (uint8_t) (nodeps & 1));
	return __atomic_compare_exchange_n(&t->state, &ended, ORR_TASK_AGAIN, 0, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static int submit_by_program(struct starpu_task *task, int nodeps)
{
	if (__builtin_expect(submit_later(task, nodeps), 0))
		return 0;
	return submit(task, 0, nodeps, NULL);
}

int orr_task_submit_again(struct orr_task *t, struct orr_round_end *end)
{
	orr_assert(ORR_ATOMIC_LOAD(&t->state) == ORR_TASK_AGAIN);
	orr_assert(!t->resubmits && !t->internal);
	t->resubmits = 1; /* until it is renewed */
	return submit(t->pub, 0, ORR_ATOMIC_LOAD_RELAXED(&t->again_nodeps), end);
}

int starpu_task_submit(struct starpu_task *task)
{
	return submit_by_program(task, 0);
}

int orr_task_submit(struct starpu_task *task)
{
	return submit(task, 1, 0, NULL);
}

int starpu_task_submit_nodeps(struct starpu_task *task)
{
	return submit_by_program(task, 1);
}

int starpu_task_submit_line(struct starpu_task *task, const char *file, int line)
{
	task->file = file;
	task->line = line;
	return submit_by_program(task, 0);
}

int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id)
{
	task->sched_ctx = sched_ctx_id;
	return submit_by_program(task, 0);
}

void starpu_create_callback_task(void (*callback)(void *), void *callback_arg)
{
	struct starpu_task *task = starpu_task_create();

	if (!task)
		return; /* starpu_task_create has said why */
	task->name = "callback";
	task->callback_func = callback;
	task->callback_arg = callback_arg;
	int ret = starpu_task_submit(task);
	if (ret)
		orr_error("starpu_create_callback_task: the task cannot be submitted: %s",
			  strerror(-ret));
}
