/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The workers' state machines and the loop that steps a group of them (design.md, "A worker is a
 * state machine").
 *
 * idle -> fetching -> running -> idle; completion is part of leaving `running`. The worker of a
 * device takes its next task while a kernel runs, so that the data come meanwhile; when the kernel
 * is over the next task is the task, fetching or already fetched.
 *
 * Invariant: a step never blocks; the group's thread sleeps only after it announced it (idle_mask)
 * and found nothing once more. */
#include "core/worker.h"
#include "core/task_data.h"
#include "core/upcalls.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "data/handle.h"
#include "data/memory.h"
#include "data/prefetch.h"
#include "data/redux.h"
#include "data/scratch.h"
#include "data/transfer.h"
#include "core/expect.h"
#include "perf/model_state.h"
#include "sched/sched.h"
#include "core/task_trace.h"
#include "base/log.h"
#include "data/data.h"
#include "core/core.h"
#include "data/fetch.h"
#include "data/evict.h"
#include "data/tidy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- who may run what ---- */

int orr_codelet_stands_in(const struct starpu_codelet *cl, enum starpu_worker_archtype type,
			  const struct orr_worker *w)
{
	struct orr_process *proc = orr_self();

	return proc->stand_in && cl->model && orr_codelet_cpu_func(cl, 0) &&
	       orr_model_state_knows(proc, cl->model, type, w ? w->perf_arch : NULL);
}

static int has_impl(const struct starpu_codelet *cl, const struct orr_worker *w, unsigned i)
{
	switch (w->arch) {
	case STARPU_CPU_WORKER: return orr_codelet_cpu_func(cl, i) != NULL;
	case STARPU_CUDA_WORKER:
		return cl->cuda_funcs[i] != NULL ||
		       (i == 0 && (cl->cuda_func || orr_codelet_stands_in(cl, w->arch, w)));
	case STARPU_OPENCL_WORKER:
		return cl->opencl_funcs[i] != NULL ||
		       (i == 0 && (cl->opencl_func || orr_codelet_stands_in(cl, w->arch, w)));
	default: return 0;
	}
}

int orr_task_can_run(struct orr_worker *w, const struct starpu_task *t, unsigned impl)
{
	uint32_t where = t->where != -1 ? (uint32_t) t->where : orr_codelet_where(t->cl);

	if (!(where & STARPU_WORKER_TO_MASK(w->arch)) || impl >= STARPU_MAXIMPLEMENTATIONS ||
	    !has_impl(t->cl, w, impl))
		return 0;
	if (t->execute_on_a_specific_worker && t->workerid != w->id &&
	    (!orr_task_of(t) || !orr_task_of(t)->parallel))
		return 0;
	if (t->workerids_len &&
	    (w->id / 32 >= t->workerids_len || !(t->workerids[w->id / 32] & (1U << w->id % 32))))
		return 0;
	return !t->cl->can_execute || t->cl->can_execute(w->id, (struct starpu_task *) t, impl);
}

int orr_task_first_impl(struct orr_worker *w, const struct starpu_task *t)
{
	const struct orr_task *prv = orr_task_of(t);
	unsigned i;

	if (prv && prv->forced_impl)
		return orr_task_can_run(w, t, prv->nimpl) ? prv->nimpl : -1;
	for (i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		if (orr_task_can_run(w, t, i))
			return (int) i;
	return -1;
}

/* ---- waking ---- */

/* Takes a group out of those that sleep. Returns whether it still was one of them, so that of
 * several threads that want a sleeper each gets another one. */
static int claim_idle(struct orr_process *proc, unsigned index)
{
	uint64_t bit = 1ULL << index % 64;

	return (ORR_ATOMIC_FETCH_AND(&proc->core->idle_mask[index / 64], ~bit) & bit) != 0;
}

static void wake_group(struct orr_process *proc, unsigned index)
{
	uint64_t bit = 1ULL << index % 64;

	if (ORR_ATOMIC_LOAD_RELAXED(&proc->core->idle_mask[index / 64]) & bit)
		ORR_ATOMIC_AND(&proc->core->idle_mask[index / 64], ~bit);
	orr_waitq_wake_fenced(&proc->core->groups[index].bell);
}

void orr_wake_worker(struct orr_worker *w)
{
	struct orr_process *proc = w->group->proc;

	ORR_ATOMIC_FENCE();
	wake_group(proc, (unsigned) (w->group - proc->core->groups));
}

void orr_wake_one(struct orr_process *proc)
{
	unsigned i, words = (proc->ngroups + 63) / 64;

	if (__builtin_expect(proc->arch_mask & (proc->arch_mask - 1), 0)) {
		/* Not every group can do what there is to do. */
		orr_wake_all(proc);
		return;
	}
	ORR_ATOMIC_FENCE();
	for (i = 0; i < words; i++) {
		uint64_t mask = ORR_ATOMIC_LOAD_RELAXED(&proc->core->idle_mask[i]);

		for (; mask; mask &= mask - 1) {
			unsigned index = i * 64 + (unsigned) __builtin_ctzll(mask);

			if (!claim_idle(proc, index))
				continue; /* it is awake, or somebody else wakes it: the next one */
			orr_waitq_wake_fenced(&proc->core->groups[index].bell);
			return;
		}
	}
}

void orr_wake_all(struct orr_process *proc)
{
	unsigned i;

	ORR_ATOMIC_FENCE();
	for (i = 0; i < proc->ngroups; i++)
		wake_group(proc, i);
}

void orr_ctx_wake_all(struct orr_process *proc, struct orr_ctx *ctx)
{
	unsigned i;

	ORR_ATOMIC_FENCE();
	for (i = 0; i < proc->core->nworkers; i++)
		if (orr_ctx_has(ctx, &proc->core->workers[i]))
			wake_group(proc,
				   (unsigned) (proc->core->workers[i].group - proc->core->groups));
}

/* One that sleeps is enough where all can do the same; nobody needs to be told who does not sleep.
 */
void orr_ctx_wake_some(struct orr_process *proc, struct orr_ctx *ctx)
{
	unsigned i;

	if (proc->arch_mask & (proc->arch_mask - 1)) {
		orr_ctx_wake_all(proc, ctx);
		return;
	}
	ORR_ATOMIC_FENCE();
	for (i = 0; i < proc->core->nworkers; i++) {
		unsigned g = (unsigned) (proc->core->workers[i].group - proc->core->groups);

		if (!orr_ctx_has(ctx, &proc->core->workers[i]) ||
		    !(ORR_ATOMIC_LOAD(&proc->core->idle_mask[g / 64]) >> g % 64 & 1) ||
		    !claim_idle(proc, g))
			continue;
		orr_waitq_wake_fenced(&proc->core->groups[g].bell);
		return;
	}
}

/* ---- waking for the floors below ---- */

static void park_give_out(struct orr_process *proc)
{
	orr_owners_proceed(orr_thread_self());
	if (ORR_ATOMIC_LOAD_RELAXED(&proc->nholding))
		orr_sched_give_out(proc, 1);
}

static void park_wake_others(struct orr_process *proc)
{
	const struct orr_worker *w = orr_thread_self()->worker;

	ORR_ATOMIC_FENCE();
	for (unsigned i = 0; i < proc->ngroups; i++)
		if (!w || &proc->core->groups[i] != w->group)
			wake_group(proc, i);
}

static void park_wake_group(struct orr_process *proc, unsigned g)
{
	ORR_ATOMIC_FENCE();
	wake_group(proc, g);
}

const struct orr_park_ops orr_core_park_ops = {
	.give_out = park_give_out,
	.wake_one = orr_wake_one,
	.wake_all = orr_wake_all,
	.wake_others = park_wake_others,
	.wake_group = park_wake_group,
};

/* ---- tasks pinned to a worker ---- */

static void push_local(struct orr_worker *w, struct starpu_task *task)
{
	orr_lock(&w->local_lock);
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

/* The program chose a combined worker: its members are told of. */
static void push_combined(struct orr_process *proc, struct orr_task *t,
			  const struct starpu_sched_policy *policy)
{
	const struct orr_combined *c = orr_combined_get(proc, t->pub->workerid);
	unsigned i;

	for (i = 0; i < c->n && policy->push_task_notify; i++)
		policy->push_task_notify(t->pub, c->workers[i], (int) c->id, t->ctx);
	orr_parallel_launch(proc, t, c);
}

void orr_task_push(struct orr_task *t)
{
	struct starpu_task *task = t->pub;
	struct orr_process *proc = orr_self();

	if (proc->perf_timing)
		t->ready_us = orr_sys_now_us();
	if (task->profiling_info)
		orr_profile_stamp(t, offsetof(struct starpu_profiling_task_info, push_start_time));
	if (task->execute_on_a_specific_worker) {
		struct starpu_sched_policy *policy = proc->core->ctx[t->ctx]->policy;

		if (__builtin_expect(task->workerid >= proc->core->nworkers, 0)) {
			push_combined(proc, t, policy);
			return;
		}
		if (policy->push_task_notify)
			policy->push_task_notify(task, (int) task->workerid, (int) task->workerid,
						 t->ctx);
		push_local(&proc->core->workers[task->workerid], task);
		return;
	}
	orr_ctx_push(proc, t);
}

/* What is there for the worker, in its own list or with the policy. */
static struct starpu_task *find_task(struct orr_worker *w, struct orr_process *proc)
{
	struct starpu_task *task = pop_local(w);

	if (task)
		return task;
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&w->ctxs) != 1, 0))
		return orr_ctx_pop(w, proc);
	return proc->core->ctx0.policy->pop_task(0);
}

static struct starpu_task *pop(struct orr_worker *w, struct orr_process *proc)
{
	struct starpu_task *task;

	/* What came before the end of a pause is seen by tasks that start after it. */
	if (ORR_ATOMIC_LOAD(&proc->core->paused))
		return NULL;
	task = w->kept;
	if (__builtin_expect(task != NULL, 0))
		w->kept = NULL;
	else
		task = find_task(w, proc);
	/* Whoever finds a task that was submitted during a pause sees the pause, although it had
	 * not begun when he came. */
	if (task && __builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->paused), 0)) {
		w->kept = task;
		return NULL;
	}
	return task;
}

/* ---- running ---- */

static int heap_before(const struct orr_worker *a, const struct orr_worker *b)
{
	return a->end_us < b->end_us || (a->end_us == b->end_us && a->end_seq < b->end_seq);
}

static void heap_set(struct orr_group *g, unsigned i, struct orr_worker *w)
{
	g->heap[i] = w;
	w->heap_index = i;
}

static void heap_push(struct orr_group *g, struct orr_worker *w)
{
	unsigned i = g->nheap++;

	w->end_seq = g->seq++;
	for (; i > 0 && heap_before(w, g->heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_set(g, i, g->heap[(i - 1) / 2]);
	heap_set(g, i, w);
}

/* What is sorted is a heap. It mostly is sorted already. */
void orr_group_sort(struct orr_group *g)
{
	for (unsigned i = 1; i < g->nheap; i++) {
		struct orr_worker *w = g->heap[i];
		unsigned at = i;

		for (; at > 0 && heap_before(w, g->heap[at - 1]); at--)
			heap_set(g, at, g->heap[at - 1]);
		heap_set(g, at, w);
	}
}

static struct orr_worker *heap_pop(struct orr_group *g)
{
	struct orr_worker *top = g->heap[0], *last = g->heap[--g->nheap];
	unsigned i = 0;

	if (!g->nheap)
		return top;
	for (;;) {
		unsigned c = 2 * i + 1;

		if (c >= g->nheap)
			break;
		if (c + 1 < g->nheap && heap_before(g->heap[c + 1], g->heap[c]))
			c++;
		if (!heap_before(g->heap[c], last))
			break;
		heap_set(g, i, g->heap[c]);
		i = c;
	}
	heap_set(g, i, last);
	return top;
}

int orr_task_target_node(struct orr_worker *w, struct starpu_task *task, unsigned i)
{
	int node;

	if (!task->cl->specific_nodes)
		return (int) w->memnode;
	node = STARPU_CODELET_GET_NODE(task->cl, i);
	switch (node) {
	case STARPU_SPECIFIC_NODE_LOCAL:
	case STARPU_SPECIFIC_NODE_FAST: return (int) w->memnode;
	case STARPU_SPECIFIC_NODE_CPU:
	case STARPU_SPECIFIC_NODE_SLOW: return STARPU_MAIN_RAM;
	case STARPU_SPECIFIC_NODE_LOCAL_OR_CPU: {
		starpu_data_handle_t h = orr_task_handle(task, i);

		return !starpu_data_is_on_node(h, w->memnode) &&
				       starpu_data_is_on_node(h, STARPU_MAIN_RAM)
			       ? STARPU_MAIN_RAM
			       : (int) w->memnode;
	}
	case STARPU_SPECIFIC_NODE_NONE: return -1;
	default:
		if (node < 0 || node >= (int) orr_self()->data->nmemnodes)
			orr_fatal(
				"codelet of task %s wants datum %u on memory node %d, which does not exist",
				orr_task_name(task), i, node);
		return node;
	}
}

static void finish_task(struct orr_worker *w, struct orr_thread *self);

/* t->nfetching while prefetches of the task's data have to end first, and while a next task has
 * given back what it held. */
#define PREFETCHING (1U << 31)
#define UNFETCHED (1U << 30)

/* The worker has all its data: others may collect theirs. */
static void stop_starving(struct orr_worker *w, struct orr_process *proc)
{
	w->starving = 0;
	ORR_ATOMIC_ADD(&proc->data->nstarving, -1);
	if (ORR_ATOMIC_LOAD(&proc->data->starver) == w)
		ORR_ATOMIC_STORE(&proc->data->starver, NULL);
	orr_memory_kick(proc);
}

/* What the runtime takes to choose, start and complete a task. */
static double run_cost(const struct orr_process *proc, const struct orr_task *t)
{
	return proc->costs[ORR_COST_SCHED] + proc->costs[ORR_COST_COMPLETE] +
	       t->owner.naccess * proc->costs[ORR_COST_DATUM];
}

/* The kernel of a parallel task, in its leader. */
static void start_parallel(struct orr_worker *w, struct orr_thread *self)
{
	switch (orr_parallel_start(w, self)) {
	case 0: finish_task(w, self); break;
	case 1:
		w->end_us += run_cost(self->proc, w->task);
		heap_push(w->group, w);
		self->task = NULL;
		break;
	default: self->task = NULL;
	}
}

/* Everything is there: runs the kernel, or starts it. */
static void start_kernel(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_process *proc = self->proc;
	struct orr_task *t = w->task;
	struct starpu_task *task = t->pub;
	unsigned i;

	for (i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];
		void *iface;

		if (a->scratch || a->node < 0)
			continue;
		iface = a->node == STARPU_MAIN_RAM
				? orr_handle_iface(a->handle)
				: starpu_data_get_interface_on_node(a->handle, (unsigned) a->node);
		t->interfaces[i] = iface;
	}
	ORR_ATOMIC_STORE_RELAXED(&t->state, ORR_TASK_RUNNING);
	task->status = STARPU_TASK_RUNNING;
	task->workerid = w->id;
	self->task = t;
	if (__builtin_expect(task->prologue_callback_pop_func != NULL, 0))
		task->prologue_callback_pop_func(task->prologue_callback_pop_arg);
	if (__builtin_expect(proc->core->ctx[t->ctx]->policy->pre_exec_hook != NULL, 0))
		proc->core->ctx[t->ctx]->policy->pre_exec_hook(task, t->ctx);
	if (__builtin_expect(proc->perf_timing, 0))
		w->start_us = orr_sys_now_us();
	if (task->profiling_info)
		orr_profile_stamp(t, offsetof(struct starpu_profiling_task_info, start_time));
	orr_task_trace(proc, ORR_TRACE_START, t, (int) w->id);
	w->state = ORR_WORKER_RUNNING;
	if (__builtin_expect(w->starving, 0))
		stop_starving(w, proc);
	if (__builtin_expect(w->member != NULL, 0)) {
		start_parallel(w, self);
	} else if (w->driver->start(w, t)) {
		w->end_us += run_cost(proc, t);
		heap_push(w->group, w);
		self->task = NULL;
	} else {
		finish_task(w, self);
	}
}

/* The kernel is over: the next task's turn. Without its data, because memory was exhausted, it asks
 * for them again. */
static void promote(struct orr_worker *w, struct orr_process *proc)
{
	struct orr_task *t = w->next;

	w->next = NULL;
	w->task = t;
	w->state = ORR_WORKER_FETCHING;
	if (t->nfetching == UNFETCHED) {
		t->nfetching = PREFETCHING;
		if (proc->data->limited)
			ORR_ATOMIC_ADD(&proc->data->nbusy, 1);
	}
}

static void finish_task(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_process *proc = self->proc;
	struct orr_task *t = w->task;
	struct starpu_task *task = t->pub;
	double us = 0;

	self->task = t;
	w->driver->finish(w, t);
	if (__builtin_expect(proc->perf_timing, 0)) {
		us = orr_sys_now_us() - w->start_us;
		w->busy_us += us;
		if (proc->cfg.calibrate && task->cl->model)
			orr_expect_learn(proc, orr_worker_arch(w), task, t->nimpl,
					 w->own_us > 0 ? w->own_us : us);
	}
	if (__builtin_expect(task->cl->energy_model || proc->watts[w->arch] > 0, 0))
		orr_energy_task(w, t, proc->perf_timing ? orr_sys_now_us() - w->start_us : 0);
	if (task->profiling_info) {
		orr_profile_stamp(t, offsetof(struct starpu_profiling_task_info, end_time));
		task->profiling_info->workerid = (int) w->id;
	}
	if (__builtin_expect(proc->cfg.profiling, 0))
		w->prof.executed_tasks++;
	if (__builtin_expect(proc->cfg.codelet_profiling, 1)) {
		/* Only this worker writes its place; whoever displays them reads them all. */
		unsigned long *n = &task->cl->per_worker_stats[w->id];

		ORR_ATOMIC_STORE_RELAXED(n, *n + 1);
	}
	orr_task_trace(proc, ORR_TRACE_END, t, (int) w->id);
	if (__builtin_expect(proc->core->ctx[t->ctx]->policy->post_exec_hook != NULL, 0))
		proc->core->ctx[t->ctx]->policy->post_exec_hook(task, t->ctx);
	orr_scratch_release(&t->owner, w->id, t->interfaces);
	self->task = NULL;
	w->task = NULL;
	w->state = ORR_WORKER_IDLE;
	if (__builtin_expect(w->member != NULL, 0))
		orr_parallel_finish(w, t, us);
	if (w->next)
		promote(w, proc);
	if (__builtin_expect(proc->data->limited, 0) && t->owner.naccess) {
		ORR_ATOMIC_ADD(&proc->data->nbusy, -1);
		orr_task_complete(t, w);
		orr_memory_kick(proc);
		return;
	}
	orr_task_complete(t, w);
}

/* ---- data ---- */

/* w->starving: holds nothing and waits for memory, or is collecting data again. */
enum { STARVING_TRIES = 1, STARVING_WAITS };

static void input_done(void *arg)
{
	struct orr_access *a = arg;
	struct orr_task *t = orr_task_of_owner(a->owner);
	struct orr_worker *w = t->worker;

	if (ORR_ATOMIC_ADD(&t->nfetching, -1) == 0)
		orr_wake_worker(w);
}

/* There is no memory for this access; its reference was given back. */
static void input_starved(void *arg)
{
	struct orr_access *a = arg;

	a->pinned = 0;
	ORR_ATOMIC_STORE(&orr_task_of_owner(a->owner)->starved, a);
	input_done(a);
}

/* Gives back what the task holds: it waits for memory with empty hands, so that no two tasks wait
 * for each other. A next task does not wait: it asks again when its turn comes. */
static void drop_inputs(struct orr_worker *w, struct orr_task *t, struct orr_process *proc)
{
	unsigned i;

	orr_scratch_release(&t->owner, w->id, t->interfaces);
	for (i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];

		if (a->pinned)
			orr_fetch_unref(a->handle, (unsigned) a->node);
		a->pinned = 0;
	}
	if (proc->data->limited)
		ORR_ATOMIC_ADD(&proc->data->nbusy, -1);
	if (t != w->task) {
		t->nfetching = UNFETCHED;
		orr_memory_kick(proc);
		return;
	}
	if (!w->starving) {
		ORR_ATOMIC_ADD(&proc->data->nstarving, 1);
		orr_memory_kick(proc);
	}
	w->starving = STARVING_WAITS;
}

static void inputs_ready(struct orr_worker *w, struct orr_task *t, struct orr_thread *self)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD(&t->starved) != NULL, 0))
		drop_inputs(w, t, self->proc);
	else if (t == w->task)
		start_kernel(w, self);
}

/* The part of fetch_input that may take time. */
static int request_input(struct orr_worker *w, struct orr_task *t, unsigned i)
{
	struct orr_access *a = &t->owner.access[i];
	struct orr_fetch rq = { .handle = a->handle,
				.memnode = (uint8_t) a->node,
				.prio = t->pub->priority,
				.effort = ORR_EFFORT_WRITEBACK,
				.mode = a->mode,
				.done = input_done,
				.starved = input_starved,
				.arg = a };
	int ret;

	if (a->mode & (STARPU_SCRATCH | STARPU_REDUX)) {
		struct orr_contributor me = { w->id, w->arch, w->memnode, w->name };

		ret = orr_scratch_acquire(a, &me, &t->interfaces[i], &rq);
		if (ret <= 0)
			return ret;
	}
	a->pinned = 1;
	ORR_ATOMIC_ADD_RELAXED(&t->nfetching, 1);
	enum orr_fetched result = orr_fetch_request(&rq);
	if (result == ORR_FETCH_LATER)
		return 0;
	ORR_ATOMIC_ADD_RELAXED(&t->nfetching, -1);
	if (result == ORR_FETCH_READY)
		return 0;
	a->pinned = 0;
	if (result == ORR_FETCH_FAILED)
		orr_fatal("task %s cannot have its datum %u, %s", orr_task_name(t->pub), i,
			  orr_handle_name(a->handle));
	return -EAGAIN;
}

/* Asks for datum i of the task. Returns 0 when it is there or will come, -EAGAIN when memory is
 * exhausted. */
static int fetch_input(struct orr_worker *w, struct orr_task *t, unsigned i)
{
	struct orr_access *a = &t->owner.access[i];

	a->node = (int8_t) orr_task_target_node(w, t->pub, i);
	if (a->node < 0 || a->merged)
		return 0;
	if (!(a->mode & (STARPU_RW | STARPU_SCRATCH | STARPU_REDUX))) {
		a->node = -1;
		return 0;
	}
	if (!(a->mode & (STARPU_SCRATCH | STARPU_REDUX)) &&
	    orr_fetch_quick(a->handle, (unsigned) a->node, a->mode)) {
		a->pinned = 1;
		return 0;
	}
	return request_input(w, t, i);
}

static void fetch_inputs(struct orr_worker *w, struct orr_task *t, struct orr_thread *self)
{
	struct orr_process *proc = self->proc;
	struct orr_worker *starver = proc->data->limited ? ORR_ATOMIC_LOAD(&proc->data->starver)
							 : NULL;
	unsigned i;

	t->starved = NULL;
	if (w->starving && t == w->task)
		w->starving = STARVING_TRIES;
	t->nfetching = 1;
	if (__builtin_expect(starver && (starver != w || t != w->task), 0))
		t->starved = &t->owner.access[0]; /* somebody needs all the memory there is */
	for (i = 0; i < t->owner.naccess && !ORR_ATOMIC_LOAD_RELAXED(&t->starved); i++)
		if (fetch_input(w, t, i))
			ORR_ATOMIC_STORE(&t->starved, &t->owner.access[i]);
	if (ORR_ATOMIC_ADD(&t->nfetching, -1) == 0)
		inputs_ready(w, t, self);
}

/* The task waits for memory: tries again, one worker at a time. Returns 1 when it got further. */
static int retry_inputs(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_process *proc = self->proc;
	struct orr_worker *nobody = NULL;
	struct orr_access *a;
	unsigned tries;

	if (ORR_ATOMIC_LOAD(&proc->data->starver) != w &&
	    !ORR_ATOMIC_CAS(&proc->data->starver, &nobody, w))
		return 0;
	for (tries = 0; tries < 3; tries++) {
		if (proc->data->limited)
			ORR_ATOMIC_ADD(&proc->data->nbusy, 1);
		fetch_inputs(w, w->task, self);
		if (w->state != ORR_WORKER_FETCHING || ORR_ATOMIC_LOAD(&w->task->nfetching))
			return 1;
		a = ORR_ATOMIC_LOAD(&w->task->starved);
		if (!a || !orr_memory_hopeless(proc, (unsigned) a->node, 0))
			return 0;
	}
	orr_fatal(
		"memory node %d is exhausted and nothing on it can be evicted: task %s needs %zu bytes for its datum %u, %s, and %zu of %zu bytes "
		"are in use; raise the limit (STARPU_LIMIT_CPU_MEM, STARPU_LIMIT_CUDA_MEM), release data acquired there, or use smaller data",
		a->node, orr_task_name(w->task->pub), starpu_data_get_alloc_size(a->handle),
		(unsigned) (a - w->task->owner.access), orr_handle_name(a->handle),
		starpu_memory_get_used((unsigned) a->node), proc->data->memnodes[a->node].total);
}

/* A worker in state FETCHING. */
static int step_fetching(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_task *t = w->task;
	unsigned n = ORR_ATOMIC_LOAD(&t->nfetching);

	if (__builtin_expect(n == PREFETCHING, 0)) {
		if (ORR_ATOMIC_LOAD(&t->owner.nprefetch))
			return 0;
		fetch_inputs(w, t, self);
		return 1;
	}
	if (n)
		return 0;
	if (__builtin_expect(w->starving == STARVING_WAITS, 0))
		return retry_inputs(w, self);
	inputs_ready(w, t, self);
	return 1;
}

/* Chooses the implementation of a task that came to this worker. */
static void prepare(struct orr_worker *w, struct orr_task *t)
{
	struct starpu_task *task = t->pub;
	int impl = 0;

	if (!(w->arch == STARPU_CPU_WORKER && task->cl->cpu_funcs[0] && !task->cl->can_execute &&
	      !t->forced_impl))
		impl = orr_task_first_impl(w, task);
	if (impl < 0)
		orr_fatal("scheduling policy gave task %s to worker %s, which cannot execute it",
			  orr_task_name(task), w->name);
	if (!t->impl_chosen)
		t->nimpl = (uint8_t) impl;
	t->worker = w;
	t->interfaces = t->owner.naccess > STARPU_NMAXBUFS ? task->dyn_interfaces
							   : task->interfaces;
}

/* Asks for the data of w->task, or of w->next. */
static void ask_for_data(struct orr_worker *w, struct orr_task *t, struct orr_thread *self)
{
	if (__builtin_expect(self->proc->data->limited, 0))
		ORR_ATOMIC_ADD(&self->proc->data->nbusy, 1);
	/* When 0 is read, whoever ended the last prefetch has left its datum behind. */
	if (__builtin_expect(ORR_ATOMIC_LOAD(&t->owner.nprefetch) != 0, 0) &&
	    !orr_prefetch_cancel(&t->owner)) {
		t->nfetching = PREFETCHING;
		return;
	}
	fetch_inputs(w, t, self);
}

/* Takes a task and asks for its data. */
static void begin_task(struct orr_worker *w, struct starpu_task *task, struct orr_thread *self)
{
	struct orr_task *t = orr_task_of(task);

	prepare(w, t);
	w->task = t;
	if (!t->owner.naccess) {
		start_kernel(w, self);
		return;
	}
	w->state = ORR_WORKER_FETCHING;
	ask_for_data(w, t, self);
}

/* A kernel runs: the next task's data may come meanwhile. */
static int step_next(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_task *t = w->next;
	struct starpu_task *task;
	unsigned n;

	if (!t) {
		task = pop(w, self->proc);
		if (!task)
			return 0;
		w->next = t = orr_task_of(task);
		prepare(w, t);
		t->nfetching = 0;
		t->starved = NULL;
		if (t->owner.naccess)
			ask_for_data(w, t, self);
		return 1;
	}
	n = ORR_ATOMIC_LOAD(&t->nfetching);
	if (n == PREFETCHING && !ORR_ATOMIC_LOAD(&t->owner.nprefetch)) {
		fetch_inputs(w, t, self);
		return 1;
	}
	if (n == 0 && __builtin_expect(ORR_ATOMIC_LOAD(&t->starved) != NULL, 0))
		drop_inputs(w, t, self->proc);
	return 0;
}

/* ---- groups ---- */

static int step_worker(struct orr_worker *w, struct orr_thread *self)
{
	struct starpu_task *task;
	int ret;

	orr_worker_enter(self, w);
	switch (w->state) {
	case ORR_WORKER_IDLE:
		if (__builtin_expect(ORR_ATOMIC_LOAD(&w->joins) != NULL, 0) &&
		    !ORR_ATOMIC_LOAD(&self->proc->core->paused)) {
			orr_parallel_join(w);
			return 1;
		}
		task = pop(w, self->proc);
		if (!task)
			return 0;
		begin_task(w, task, self);
		return 1;
	case ORR_WORKER_FETCHING: return step_fetching(w, self);
	case ORR_WORKER_RUNNING:
		if (__builtin_expect(w->member != NULL, 0)) {
			if (!orr_parallel_is_over(w))
				return 0;
			finish_task(w, self);
			return 1;
		}
		return w->pipeline ? step_next(w, self) : 0; /* in the heap */
	case ORR_WORKER_JOINED:
		ret = orr_parallel_step(w, self);
		if (ret == 2)
			begin_task(w, w->member->p->task->pub, self);
		return ret != 0;
	}
	return 0;
}

/* The memory that the group's prefetches go to first. */
static unsigned own_memnode(const struct orr_group *g)
{
	return g->nworkers ? g->proc->core->workers[g->first].memnode : STARPU_MAIN_RAM;
}

int orr_group_step(struct orr_group *g, double *next_us)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_worker *w = &g->proc->core->workers[g->first], *end = w + g->nworkers;
	int advanced = 0;
	double transfer;

	transfer = orr_transfer_progress(g->proc);
	if (g->nheap) {
		double now = orr_sys_now_us();

		while (g->nheap && g->heap[0]->end_us <= now) {
			struct orr_worker *over = heap_pop(g);

			orr_worker_enter(self, over);
			if (__builtin_expect(!over->member, 1) || orr_parallel_time_is_over(over))
				finish_task(over, self);
			advanced = 1;
		}
	}
	for (; w < end; w++)
		advanced |= step_worker(w, self);
	orr_worker_enter(self, NULL);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&g->proc->data->nprefetch) != 0, 0))
		advanced |= orr_prefetch_progress(g->proc, own_memnode(g), !advanced);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&g->proc->data->untidy) != 0, 0) && !advanced)
		advanced |= orr_memory_tidy(g->proc);
	*next_us = g->nheap ? g->heap[0]->end_us : -1;
	if (transfer >= 0 && (*next_us < 0 || transfer < *next_us))
		*next_us = transfer;
	return advanced;
}

static int joined(const struct orr_group *g)
{
	unsigned i;

	for (i = 0; i < g->nworkers; i++)
		if (g->proc->core->workers[g->first + i].state == ORR_WORKER_JOINED)
			return 1;
	return 0;
}

/* How long a worker sleeps while a hook of the program has more to do. */
#define HOOK_POLL_US 20

/* Waits for the bell, or until something is known to end, or for at most max_us (negative: no
 * limit). */
static void group_sleep(struct orr_group *g, double max_us)
{
	struct orr_process *proc = g->proc;
	unsigned index = (unsigned) (g - proc->core->groups), key;
	uint64_t bit = 1ULL << index % 64;
	double next_us;

	ORR_ATOMIC_OR(&proc->core->idle_mask[index / 64], bit);
	key = orr_waitq_prepare(&g->bell);
	/* Once more, now that others know that they must ring. */
	if (orr_group_step(g, &next_us) || ORR_ATOMIC_LOAD(&proc->core->stopping)) {
		orr_waitq_cancel(&g->bell);
	} else {
		double limit = next_us >= 0 ? next_us - orr_sys_now_us() : -1;

		if (next_us >= 0 && limit <= 0) {
			orr_waitq_cancel(&g->bell);
		} else {
			if (max_us >= 0 && (limit < 0 || limit > max_us))
				limit = max_us;
			orr_waitq_wait(&g->bell, key, limit);
		}
	}
	ORR_ATOMIC_AND(&proc->core->idle_mask[index / 64], ~bit);
}

/* Lets somebody else use the thread for a moment: who has no thread with a core of its own. */
static void look(struct orr_process *proc, int idle)
{
	void (*func)(struct orr_process *, int);

	ORR_ATOMIC_ADD(&proc->core->nlooking, 1);
	func = ORR_ATOMIC_LOAD(&proc->core->look);
	if (func)
		func(proc, idle);
	ORR_ATOMIC_ADD(&proc->core->nlooking, -1);
}

void orr_look_set(struct orr_process *proc, void (*func)(struct orr_process *, int idle))
{
	ORR_ATOMIC_STORE(&proc->core->look, func);
	ORR_ATOMIC_FENCE();
	while (!func && ORR_ATOMIC_LOAD(&proc->core->nlooking))
		orr_sys_sleep_us(1);
}

void *orr_group_main(void *arg)
{
	struct orr_group *g = arg;
	struct orr_process *proc = g->proc;
	double spin_us = orr_sys_spin_us(proc), idle_since = -1, next_us;
	unsigned i;
	int more;

	for (i = 0; i < g->nworkers; i++)
		proc->core->workers[g->first + i].driver->init(&proc->core->workers[g->first + i]);
	while (!ORR_ATOMIC_LOAD(&proc->core->stopping) || g->nheap) {
		if (orr_group_step(g, &next_us)) {
			idle_since = -1;
			if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->look) != NULL, 0))
				look(proc, 0);
			continue;
		}
		if (idle_since < 0) {
			/* Whoever waits for all tasks is told here rather than after each of them.
			 */
			orr_waitq_wake(&proc->done);
			idle_since = spin_us > 0 ? orr_sys_now_us() : 0;
		}
		more = __builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->nhooks) != 0, 0) &&
		       orr_hooks_run(g);
		if (spin_us > 0 && next_us < 0 && orr_sys_now_us() - idle_since < spin_us) {
			unsigned n;

			for (n = 0; n < 32; n++)
				orr_sys_relax();
			continue;
		}
		if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->look) != NULL, 0))
			look(proc, 1);
		group_sleep(g, more ? HOOK_POLL_US : -1);
		if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->look) != NULL, 0))
			look(proc, 0);
		idle_since = -1;
	}
	/* Members of the last parallel task may not have left it. */
	while (joined(g))
		orr_group_step(g, &next_us);
	for (i = 0; i < g->nworkers; i++)
		proc->core->workers[g->first + i].driver->deinit(
			&proc->core->workers[g->first + i]);
	return NULL;
}
