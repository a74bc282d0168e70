/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker collects the data of its task (see inputs.h).
 *
 * Invariant: a task that finds no memory gives back what it holds before it waits, so that no two
 * tasks wait for each other. */
#include "core/run/inputs.h"

#include <errno.h>

#include "base/log.h"
#include "core/flow/task_data.h"
#include "core/worker/wake.h"
#include "core/worker/worker.h"
#include "core/task/task_life.h"
#include "core/task/task_trace.h"
#include "core/task/times.h"
#include "data/data.h"
#include "data/evict.h"
#include "data/fetch.h"
#include "data/handle.h"
#include "data/prefetch.h"
#include "data/scratch.h"
#include "data/thresholds.h"

/* t->nfetching while prefetches of the task's data have to end first, and while a next task has
 * given back what it held. */
#define PREFETCHING (1U << 31)
#define UNFETCHED (1U << 30)

int orr_inputs_target_node(struct orr_worker *w, struct starpu_task *task, unsigned i)
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

/* w->starving: holds nothing and waits for memory, or is collecting data again. */
enum { STARVING_TRIES = 1, STARVING_WAITS };

void orr_inputs_stop_starving(struct orr_worker *w, struct orr_process *proc)
{
	orr_worker_assert_mine(w);
	orr_assert(w->starving && ORR_ATOMIC_LOAD(&proc->data->nstarving) > 0);
	w->starving = 0;
	ORR_ATOMIC_ADD(&proc->data->nstarving, -1);
	if (ORR_ATOMIC_LOAD(&proc->data->starver) == w)
		ORR_ATOMIC_STORE(&proc->data->starver, NULL);
	orr_memory_kick(proc);
}

static void input_done(void *arg)
{
	struct orr_access *a = arg;
	struct orr_task *t = orr_task_of_owner(a->owner);
	struct orr_worker *w = t->worker;

	orr_assertf(ORR_ATOMIC_LOAD(&t->nfetching) > 0 &&
			    ORR_ATOMIC_LOAD(&t->nfetching) <= t->owner.naccess + 1,
		    "task %s waits for %u data and one came", orr_task_name(t->pub),
		    ORR_ATOMIC_LOAD(&t->nfetching));
	orr_task_assert_of(t, ORR_TASK_OF_WORKER);
	if (ORR_ATOMIC_ADD(&t->nfetching, -1) == 0)
		orr_wake_worker(w);
}

/* There is no memory for this access; its reference was given back. */
static void input_starved(void *arg)
{
	struct orr_access *a = arg;

	orr_assert(a->pinned && a->node >= 0);
	a->pinned = 0;
	ORR_ATOMIC_STORE(&orr_task_of_owner(a->owner)->starved, a);
	input_done(a);
}

/* Gives back what the task holds: it waits for memory with empty hands, so that no two tasks wait
 * for each other. A next task does not wait: it asks again when its turn comes. */
static void drop_inputs(struct orr_worker *w, struct orr_task *t, struct orr_process *proc)
{
	orr_assertf(!ORR_ATOMIC_LOAD(&t->nfetching), "task %s gives back what is on its way",
		    orr_task_name(t->pub));
	orr_assert(ORR_ATOMIC_LOAD_RELAXED(&t->state) == ORR_TASK_READY);
	orr_scratch_release(&t->owner, w->id, t->interfaces);
	for (unsigned i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];

		if (a->pinned)
			orr_fetch_unref(a->handle, (unsigned) a->node);
		a->pinned = 0;
	}
	if (proc->data->limited) {
		orr_assert(ORR_ATOMIC_LOAD(&proc->data->nbusy) > 0);
		ORR_ATOMIC_ADD(&proc->data->nbusy, -1);
	}
	if (t != w->task) {
		t->nfetching = UNFETCHED;
		orr_memory_kick(proc);
		return;
	}
	orr_assert(w->state == ORR_WORKER_FETCHING && w->starving != STARVING_WAITS);
	if (!w->starving)
		ORR_ATOMIC_ADD(&proc->data->nstarving, 1);
	w->starving = STARVING_WAITS;
	orr_memory_kick(proc);
}

static enum orr_inputs inputs_ready(struct orr_worker *w, struct orr_task *t,
				    struct orr_thread *self)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD(&t->starved) != NULL, 0)) {
		drop_inputs(w, t, self->proc);
		return ORR_INPUTS_ADVANCED;
	}
	return t == w->task ? ORR_INPUTS_READY : ORR_INPUTS_ADVANCED;
}

/* The data of the worker's task, or of its next one (2), are not there. Only those of its task keep
 * it waiting. */
static void wait_for_data(struct orr_worker *w, const struct orr_task *t, struct orr_process *proc)
{
	w->waits |= t == w->task ? 1 : 2;
	if (t == w->task)
		orr_times_data(w, proc);
}

/* The part of fetch_input that may take time. */
static int request_input(struct orr_worker *w, struct orr_task *t, unsigned i, int resident)
{
	struct orr_access *a = &t->owner.access[i];
	struct orr_fetch rq = { .handle = a->handle,
				.memnode = (uint8_t) a->node,
				.prio = t->pub->priority,
				.effort = ORR_EFFORT_WRITEBACK,
				.resident = resident & 1,
				.mode = a->mode,
				.done = input_done,
				.starved = input_starved,
				.arg = a };
	int ret;

	if (a->mode & (STARPU_SCRATCH | STARPU_REDUX)) {
		if (resident)
			return -EAGAIN;
		struct orr_contributor me = { w->id, w->arch, w->memnode, w->name };

		ret = orr_scratch_acquire(a, &me, &t->interfaces[i], &rq);
		if (ret <= 0)
			return ret;
	}
	a->pinned = 1;
	ORR_ATOMIC_ADD_RELAXED(&t->nfetching, 1);
	orr_worker_trace_ask(w, t, orr_self());
	enum orr_fetched result = orr_fetch_request(&rq);
	if (result != ORR_FETCH_READY || rq.moved)
		wait_for_data(w, t, orr_self());
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
 * exhausted. resident: it takes no new memory. */
static int fetch_input(struct orr_worker *w, struct orr_task *t, unsigned i, int resident)
{
	struct orr_access *a = &t->owner.access[i];

	a->node = (int8_t) orr_inputs_target_node(w, t->pub, i);
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
	return request_input(w, t, i, resident);
}

static enum orr_inputs fetch_inputs(struct orr_worker *w, struct orr_task *t,
				    struct orr_thread *self)
{
	struct orr_process *proc = self->proc;
	struct orr_worker *starver = proc->data->limited ? ORR_ATOMIC_LOAD(&proc->data->starver)
							 : NULL;

	orr_task_assert_of(t, ORR_TASK_OF_WORKER);
	orr_assertf(t->worker == w && (t == w->task || t == w->next),
		    "worker %u fetches the data of another one", w->id);
	orr_assertf(t->owner.held, "task %s fetches data that it does not hold",
		    orr_task_name(t->pub));
	t->starved = NULL;
	if (w->starving && t == w->task)
		w->starving = STARVING_TRIES;
	t->nfetching = 1;
	/* The starver needs all the memory there is. A task whose buffers are there goes on: the
	 * end of the starver's wait may depend on it. */
	int resident = starver && (starver != w || t != w->task);
	for (unsigned i = 0; i < t->owner.naccess && !ORR_ATOMIC_LOAD_RELAXED(&t->starved); i++)
		if (fetch_input(w, t, i, resident))
			ORR_ATOMIC_STORE(&t->starved, &t->owner.access[i]);
	if (ORR_ATOMIC_ADD(&t->nfetching, -1) != 0)
		return ORR_INPUTS_ADVANCED;
	return inputs_ready(w, t, self);
}

/* Returns true if the program, which was lent memory, may give some back; says so, once. */
static int may_come_back(struct orr_process *proc, const struct orr_task *t,
			 const struct orr_access *a)
{
	size_t lent = ORR_ATOMIC_LOAD(&proc->data->memnodes[a->node]->lent);
	char usage[160];

	if (lent && !ORR_ATOMIC_XCHG(&proc->data->loan_told, 1))
		orr_warn(
			"task %s waits for memory: it needs %zu bytes on memory node %d for %s, and the program has taken %zu by starpu_memory_allocate or starpu_malloc_flags; %s",
			orr_task_name(t->pub), starpu_data_get_alloc_size(a->handle), a->node,
			orr_handle_name(a->handle), lent,
			orr_memory_usage(proc, (unsigned) a->node, usage, sizeof(usage)));
	return lent != 0;
}

/* The task waits for memory: tries again, one worker at a time. */
static enum orr_inputs retry_inputs(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_process *proc = self->proc;
	struct orr_worker *nobody = NULL;
	struct orr_access *a;
	char usage[160];

	orr_assert(w->starving == STARVING_WAITS && ORR_ATOMIC_LOAD(&proc->data->nstarving) > 0);
	if (ORR_ATOMIC_LOAD(&proc->data->starver) != w &&
	    !ORR_ATOMIC_CAS(&proc->data->starver, &nobody, w))
		return ORR_INPUTS_IDLE;
	for (unsigned tries = 0; tries < 3; tries++) {
		if (proc->data->limited)
			ORR_ATOMIC_ADD(&proc->data->nbusy, 1);
		if (fetch_inputs(w, w->task, self) == ORR_INPUTS_READY)
			return ORR_INPUTS_READY;
		if (w->starving != STARVING_WAITS)
			return ORR_INPUTS_ADVANCED; /* some are on their way, or just arrived */
		a = ORR_ATOMIC_LOAD(&w->task->starved);
		if (!a || !orr_memory_hopeless(proc, (unsigned) a->node, 0) ||
		    may_come_back(proc, w->task, a))
			return ORR_INPUTS_IDLE;
	}
	orr_fatal(
		"memory node %d is exhausted and nothing on it can be evicted: task %s needs %zu bytes for its datum %u, %s, and %s, release "
		"data acquired there, or use smaller data",
		a->node, orr_task_name(w->task->pub), starpu_data_get_alloc_size(a->handle),
		(unsigned) (a - w->task->owner.access), orr_handle_name(a->handle),
		orr_memory_usage(proc, (unsigned) a->node, usage, sizeof(usage)));
}

enum orr_inputs orr_inputs_step(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_task *t = w->task;
	unsigned n = ORR_ATOMIC_LOAD(&t->nfetching);

	orr_worker_assert_mine(w);
	orr_assert(n != UNFETCHED);

	if (__builtin_expect(n == PREFETCHING, 0))
		return ORR_ATOMIC_LOAD(&t->owner.nprefetch) ? ORR_INPUTS_IDLE
							    : fetch_inputs(w, t, self);
	if (n)
		return ORR_INPUTS_IDLE;
	if (__builtin_expect(w->starving == STARVING_WAITS, 0))
		return retry_inputs(w, self);
	return inputs_ready(w, t, self);
}

enum orr_inputs orr_inputs_begin(struct orr_worker *w, struct orr_task *t, struct orr_thread *self)
{
	if (__builtin_expect(self->proc->data->limited, 0))
		ORR_ATOMIC_ADD(&self->proc->data->nbusy, 1);
	/* A 0 says that the end of the last prefetch has left its datum behind. */
	if (__builtin_expect(ORR_ATOMIC_LOAD(&t->owner.nprefetch) != 0, 0) &&
	    !orr_prefetch_cancel(&t->owner)) {
		orr_worker_trace_ask(w, t, self->proc);
		t->nfetching = PREFETCHING;
		wait_for_data(w, t, self->proc);
		return ORR_INPUTS_ADVANCED;
	}
	return fetch_inputs(w, t, self);
}

enum orr_inputs orr_inputs_step_next(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_task *t = w->next;
	unsigned n = ORR_ATOMIC_LOAD(&t->nfetching);

	orr_worker_assert_mine(w);

	if (n == PREFETCHING && !ORR_ATOMIC_LOAD(&t->owner.nprefetch)) {
		fetch_inputs(w, t, self);
		return ORR_INPUTS_ADVANCED;
	}
	if (n != 0)
		return ORR_INPUTS_IDLE;
	if (__builtin_expect(ORR_ATOMIC_LOAD(&t->starved) == NULL, 1))
		return ORR_INPUTS_READY;
	drop_inputs(w, t, self->proc);
	return ORR_INPUTS_IDLE;
}

void orr_inputs_promote(struct orr_task *t, struct orr_process *proc)
{
	orr_assert(t->worker->task == t && t->worker->state == ORR_WORKER_FETCHING);
	if (ORR_ATOMIC_LOAD_RELAXED(&t->nfetching) != UNFETCHED)
		return;
	t->nfetching = PREFETCHING;
	if (proc->data->limited)
		ORR_ATOMIC_ADD(&proc->data->nbusy, 1);
}
