/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies with one queue that execute tasks by several workers: peager (first come, first served;
 * a parallel task goes to the largest combined worker around the one that takes it) and the one of
 * contexts that were made without a policy (each task has all CPU workers of the context, whatever
 * its type, so that its kernel may use their cores as it likes).
 *
 * Invariant: a pushed task is in the queue until one worker takes it, which executes it or launches
 * it on several; none is left when the policy ends (orr_shq_exit). */
#include "core/flow/parallel.h"
#include "sched/sched.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/combined.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/task/task.h"

#include <stdlib.h>
#include <string.h>

struct peager {
	struct orr_shq q;
	const struct orr_combined *all; /* atomic: the context's CPU workers, NULL when there is one
					   at most (without a policy) */
	uint8_t *member;                /* by worker: in the context (without a policy) */
};

static void init(unsigned ctx)
{
	struct orr_process *proc = orr_self();
	struct peager *s = aligned_alloc(ORR_LINES,
					 (sizeof(*s) + ORR_LINES - 1) & ~(size_t) (ORR_LINES - 1));

	if (!s)
		orr_fatal("out of memory for the scheduling policy");
	memset(s, 0, sizeof(*s));
	s->member = calloc(proc->core->nworkers + 1, 1);
	if (!s->member)
		orr_fatal("out of memory for the scheduling policy");
	orr_shq_init(&s->q);
	proc->core->ctx[ctx]->policy_data = s;
}

static void peager_init(unsigned ctx)
{
	init(ctx);
	orr_combined_build(orr_self());
}

static void deinit(unsigned ctx)
{
	struct peager *s = orr_self()->core->ctx[ctx]->policy_data;

	orr_shq_exit(&s->q);
	free(s->member);
	free(s);
}

static int push(struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = proc->core->ctx[orr_task_of(task)->ctx];
	struct peager *s = ctx->policy_data;
	int choosy = orr_task_is_choosy(task);

	orr_shq_push(&s->q, task, 0);
	orr_ctx_wake(proc, ctx, choosy);
	return 0;
}

/* A worker that launches a task is a member, and comes to it next. */
static struct starpu_task *peager_pop(unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();
	struct peager *s = self->proc->core->ctx[ctx]->policy_data;
	struct orr_worker *w = self->worker;
	struct starpu_task *task = orr_shq_pop(&s->q, w, 0);
	struct orr_combined *c;

	if (!task || w->arch != STARPU_CPU_WORKER || !orr_task_is_parallel(task))
		return task;
	c = orr_combined_largest(self->proc, w, task);
	if (!c)
		return task;
	orr_assert(c->n > 1);
	orr_parallel_launch(self->proc, orr_task_of(task), c);
	return NULL;
}

static struct starpu_task *together_pop(unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();
	struct peager *s = self->proc->core->ctx[ctx]->policy_data;
	struct orr_worker *w = self->worker;
	struct starpu_task *task = orr_shq_pop(&s->q, w, 0);
	const struct orr_combined *c = ORR_ATOMIC_LOAD(&s->all);

	if (!task || w->arch != STARPU_CPU_WORKER || !c)
		return task;
	orr_parallel_launch(self->proc, orr_task_of(task), c);
	return NULL;
}

static void change(unsigned ctx, const int *ids, unsigned n, int in)
{
	struct orr_process *proc = orr_self();
	struct peager *s = proc->core->ctx[ctx]->policy_data;
	int cpu[proc->core->nworkers + 1], id = -1;
	unsigned ncpu = 0;

	for (unsigned i = 0; i < n; i++) {
		orr_assertf(s->member[ids[i]] != in, "worker %d %s twice", ids[i],
			    in ? "joins" : "leaves");
		s->member[ids[i]] = (uint8_t) in;
	}
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (s->member[i] && proc->core->workers[i].arch == STARPU_CPU_WORKER)
			cpu[ncpu++] = (int) i;
	if (ncpu > 1)
		id = orr_combined_assign(proc, cpu, ncpu);
	ORR_ATOMIC_STORE(&s->all, id >= 0 ? orr_combined_get(proc, (unsigned) id) : NULL);
}

static void add_workers(unsigned ctx, int *ids, unsigned n)
{
	change(ctx, ids, n, 1);
}
static void remove_workers(unsigned ctx, int *ids, unsigned n)
{
	change(ctx, ids, n, 0);
}

struct starpu_sched_policy orr_sched_peager = {
	.init_sched = peager_init,
	.deinit_sched = deinit,
	.push_task = push,
	.pop_task = peager_pop,
	.policy_name = "peager",
	.policy_description =
		"eager that gives parallel tasks to as many CPU workers as they can use",
	.worker_type = STARPU_WORKER_LIST,
};

struct starpu_sched_policy orr_sched_together = {
	.init_sched = init,
	.deinit_sched = deinit,
	.add_workers = add_workers,
	.remove_workers = remove_workers,
	.push_task = push,
	.pop_task = together_pop,
	.policy_name = "none",
	.policy_description = "each task has all CPU workers of its context",
	.worker_type = STARPU_WORKER_LIST,
};

/* ---- code of the program on all workers of a context ---- */

struct call {
	void *(*func)(void *);
	void *param, *ret;
};

static void call_kernel(void *buffers[], void *arg)
{
	struct call *call = arg;

	(void) buffers;
	call->ret = call->func(call->param);
}

/* The worker that is to execute the code, combined or not; or -ENODEV. */
static int all_of(struct orr_process *proc, const struct orr_ctx *ctx)
{
	int cpu[proc->core->nworkers + 1];
	unsigned n = 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (proc->core->workers[i].arch == STARPU_CPU_WORKER &&
		    orr_ctx_has(ctx, &proc->core->workers[i]))
			cpu[n++] = (int) i;
	return orr_combined_assign(proc, cpu, n);
}

void *starpu_sched_ctx_exec_parallel_code(void *(*func)(void *), void *param, unsigned sched_ctx_id)
{
	static const char what[] = "starpu_sched_ctx_exec_parallel_code";
	struct orr_thread *self = orr_thread_self();
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, what);
	struct starpu_codelet cl = { .cpu_funcs = { call_kernel },
				     .name = "parallel_code",
				     .flags = STARPU_CODELET_SIMGRID_EXECUTE };
	struct call call = { func, param, NULL };
	struct starpu_task task;
	int id;

	if (!ctx)
		return NULL;
	/* A task of a context without policy has all the workers already. */
	if (self->task && self->task->ctx == sched_ctx_id && ctx->policy == &orr_sched_together)
		return func(param);
	id = all_of(self->proc, ctx);
	if (self->task || id < 0) {
		orr_error(
			"%s: %s", what,
			self->task
				? "called in a task that does not have the context's workers, it would wait for them"
				: "the context has no CPU workers");
		return NULL;
	}
	cl.type = STARPU_FORKJOIN;
	starpu_task_init(&task);
	task.cl = &cl;
	task.cl_arg = &call;
	task.execute_on_a_specific_worker = 1;
	task.workerid = (unsigned) id;
	task.sequential_consistency = 0;
	task.detach = 0;
	task.sched_ctx = sched_ctx_id;
	if (starpu_task_submit(&task) || starpu_task_wait(&task))
		orr_error("%s: the code could not be executed", what);
	starpu_task_clean(&task);
	return call.ret;
}
