/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A submitted task from its last dependency to its end: released, ready, holding its data,
 * completed, terminated.
 *
 * Invariant: once a task's state is DONE the runtime never touches it again, since whoever waits
 * for it may free it. */
#include "core/flow/task_state.h"

#include <string.h>

#include "base/log.h"
#include "core/flow/dispatch.h"
#include "core/flow/monitor.h"
#include "core/ctx/sched_ctx.h"
#include "core/flow/tag.h"
#include "core/task/task_edges.h"
#include "core/task/task_life.h"
#include "core/task/task_trace.h"
#include "core/task/task.h"
#include "core/task/task_array.h"
#include "core/flow/transaction.h"
#include "data/access_trace.h"
#include "data/data.h"
#include "data/fetch.h"
#include "data/handle.h"

/* ---- dependencies satisfied ---- */

void orr_task_release(struct orr_task *t)
{
	/* A task that has waited for long is in no cache: what it takes to be ready comes at once.
	 */
	__builtin_prefetch(&t->pub->prologue_callback_func);
	__builtin_prefetch(&t->pub->transaction);
	__builtin_prefetch(&t->pub->status);
	__builtin_prefetch(&t->state);
	orr_assertf(ORR_ATOMIC_LOAD(&t->owner.ndeps) > 0,
		    "task %s is released once more than it waits", orr_task_name(t->pub));
	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&t->state) <= ORR_TASK_BLOCKED,
		    "task %s is released and waits for nothing", orr_task_name(t->pub));

	/* With one dependency left it is ours: nobody else can change the counter. */
	if (ORR_ATOMIC_LOAD(&t->owner.ndeps) == 1) {
		orr_task_ready(t);
		return;
	}
	/* Others may end the task after its counter was decreased. */
	uint64_t job = ORR_ATOMIC_LOAD_RELAXED(&t->job_id);
	int submitted = ORR_ATOMIC_LOAD_RELAXED(&t->state) != ORR_TASK_NEW;

	if (ORR_ATOMIC_ADD(&t->owner.ndeps, -1) == 0)
		orr_task_ready(t);
	else if (__builtin_expect(orr_self()->observed != 0, 0))
		orr_task_trace_release(orr_self(), job, submitted);
}

static void nowhere_done(void *arg)
{
	struct orr_task *t = arg;

	orr_assert(ORR_ATOMIC_LOAD(&t->nfetching) > 0);
	if (ORR_ATOMIC_ADD(&t->nfetching, -1) == 0)
		orr_task_complete(t, NULL);
}

/* A task that executes nowhere may still want its data somewhere (handbook 27.5). */
static void execute_nowhere(struct orr_task *t)
{
	int ret;

	orr_task_assert_of(t, ORR_TASK_OF_RUNTIME);
	orr_assertf(t->owner.held, "task %s moves data that it does not hold",
		    orr_task_name(t->pub));
	t->nfetching = 1;
	for (unsigned i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];
		int where = t->pub->cl->specific_nodes ? STARPU_CODELET_GET_NODE(t->pub->cl, i)
						       : STARPU_SPECIFIC_NODE_NONE;

		if (a->merged)
			continue;
		if (where == STARPU_SPECIFIC_NODE_NONE && (a->mode & STARPU_W) &&
		    a->handle->home_node >= 0 && !(a->mode & STARPU_R))
			where = a->handle->home_node;
		if (where == STARPU_SPECIFIC_NODE_NONE)
			continue;
		if (where >= (int) orr_self()->data->nmemnodes)
			orr_fatal(
				"codelet of task %s wants datum %u on memory node %d, which does not exist",
				orr_task_name(t->pub), i, where);
		a->node = (int8_t) (where < 0 ? STARPU_MAIN_RAM : where);
		ORR_ATOMIC_ADD(&t->nfetching, 1);
		ret = orr_fetch(a->handle, (unsigned) a->node, a->mode, t->pub->priority,
				nowhere_done, t);
		if (ret < 0)
			orr_fatal("task %s cannot have its datum %u, %s", orr_task_name(t->pub), i,
				  orr_handle_name(a->handle));
		if (ret == 0)
			ORR_ATOMIC_ADD(&t->nfetching, -1);
		a->pinned = 1;
	}
	nowhere_done(t);
}

void orr_task_ready(struct orr_task *t)
{
	orr_assert_no_lock();
	orr_task_pass(t, ORR_TASK_OF_COUNTER, ORR_TASK_OF_DATA);
	if (t->owner.held || !t->owner.naccess || orr_access_lock(&t->owner))
		orr_task_held(t);
}

/* Runs fn(arg) so that starpu_task_get_current answers and blocking calls are recognised. */
static void run_callback(struct orr_task *t, enum orr_trace_callback what, void (*fn)(void *),
			 void *arg)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_task *saved = self->task;
	uint64_t cause = self->cause, job = t->job_id;
	double since_us = t->internal ? -1 : orr_task_trace_calls(self);

	self->task = t;
	/* The end of a task of the runtime's own lets others go on; else the program acts. */
	self->cause = t->internal ? ORR_CAUSE_TASK | t->job_id : 0;
	fn(arg);
	if (__builtin_expect(since_us >= 0, 0))
		orr_task_trace_called(self->proc, what, job, since_us);
	self->task = saved;
	self->cause = cause;
}

void orr_task_held(struct orr_task *t)
{
	struct starpu_task *pub = t->pub;

	orr_task_assert_of(t, ORR_TASK_OF_DATA);
	orr_assertf(t->owner.held || !t->owner.naccess,
		    "task %s goes on without the right to use its data", orr_task_name(pub));
	orr_assertf(!t->owner.parked && !t->tag_missing && !t->terminated,
		    "task %s goes on and still waits", orr_task_name(pub));
	if (__builtin_expect(pub->prologue_callback_func != NULL, 0))
		run_callback(t, ORR_CALLBACK_READY, pub->prologue_callback_func,
			     pub->prologue_callback_arg);
	if (__builtin_expect(pub->transaction != NULL, 0) && orr_transaction_is_cancelled(t)) {
		t->where = STARPU_NOWHERE;
		t->skipped = 1;
	}
	struct orr_process *proc = orr_self();

	orr_task_go(t, ORR_TASK_READY);
	pub->status = STARPU_TASK_READY;
	orr_task_trace(proc, ORR_TRACE_READY, t, -1, 0);
	if (!t->internal && orr_monitor_wants(proc, t))
		orr_monitor_ready_slow(proc, t, !(t->where & STARPU_NOWHERE));
	if (__builtin_expect(t->where & STARPU_NOWHERE, 0)) {
		orr_task_pass(t, ORR_TASK_OF_DATA, ORR_TASK_OF_RUNTIME);
		orr_owner_proceed(&t->owner);
	} else {
		orr_dispatch_push(t);
	}
}

/* ---- completion ---- */

static void release_array(struct orr_task_array *a, void (*f)(struct orr_task *))
{
	for (unsigned i = 0; i < a->n; i++)
		f(orr_task_array_get(a, i));
	orr_task_array_free(a);
}

/* Submits the same task again, once its round is over. It stays counted as pending until the new
 * one ends. */
static void submit_again(struct orr_task *t, struct orr_round_end *e)
{
	struct starpu_task *pub = t->pub;
	int auto_destroy = t->auto_destroy;

	orr_assertf(t->terminated, "task %s is submitted again before its end", orr_task_name(pub));
	orr_task_may_go(t, ORR_TASK_AGAIN);
	ORR_ATOMIC_STORE(&t->state, ORR_TASK_AGAIN);
	int ret = orr_task_submit_again(t, e);
	if (!ret)
		return;
	orr_error("task %s could not be submitted again: %s", orr_task_name(pub), strerror(-ret));
	if (e)
		orr_task_announce(t, e);
	if (auto_destroy) {
		orr_task_destroy(t);
	} else {
		orr_task_may_go(t, ORR_TASK_DONE);
		ORR_ATOMIC_STORE(&t->state, ORR_TASK_DONE);
	}
}

/* The last step of a round; t may be gone afterwards. */
static void end(struct orr_task *t, struct orr_round_end *e)
{
	uint8_t ended = ORR_TASK_ENDED;

	orr_task_pass(t, ORR_TASK_OF_END, ORR_TASK_OF_PROGRAM);
	orr_assertf(!e || t->pub->regenerate, "the end of task %s would be announced twice",
		    orr_task_name(t->pub));
	if (t->pub->regenerate)
		submit_again(t, e);
	else if (t->auto_destroy)
		orr_task_destroy(t);
	else if (!__atomic_compare_exchange_n(&t->state, &ended, ORR_TASK_DONE, 0, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST))
		submit_again(t, NULL);
}

/* Takes the successors of t that were declared for this round. */
static void take_successors(struct orr_task *t, struct orr_round_end *e)
{
	orr_assertf(t->terminated, "successors of task %s may still come", orr_task_name(t->pub));
	orr_lock(&t->lock);
	e->begin = t->succ;
	e->end = t->end_succ;
	memset(&t->succ, 0, sizeof(t->succ));
	memset(&t->end_succ, 0, sizeof(t->end_succ));
	orr_unlock(&t->lock);
}

static void release_waiters(struct orr_round_end *e)
{
	release_array(&e->begin, orr_task_release);
	release_array(&e->end, orr_task_end_release);
}

/* t has terminated, and begins its next round at once: others learn of its end in between. */
static void prepare_announcement(struct orr_task *t, struct orr_round_end *e)
{
	take_successors(t, e);
	e->has_tag = t->tag != NULL;
	if (t->tag)
		e->tag_begun = (uint8_t) orr_tag_round_ends(t, &e->tag);
}

/* t has terminated: those that wait for it go on. */
static __attribute__((noinline)) void announce_at_once(struct orr_task *t)
{
	struct orr_round_end e = { 0 };

	take_successors(t, &e);
	if (!t->auto_destroy || t->pub->regenerate)
		orr_task_edges_ended(t, &e.begin);
	if (t->tag)
		orr_tag_task_done(t, &e.begin);
	release_waiters(&e);
}

void orr_task_announce(struct orr_task *t, struct orr_round_end *e)
{
	orr_task_edges_ended(t, &e->begin);
	if (e->has_tag)
		orr_tag_round_fires(e->tag, e->tag_begun, &e->begin);
	release_waiters(e);
}

static inline void tell_end(struct orr_process *proc, struct orr_task *t,
			    const struct orr_worker *w)
{
	orr_task_trace(proc, ORR_TRACE_DONE, t, w ? (int) w->id : -1, 0);
	if (__builtin_expect(t->tag != NULL, 0))
		orr_tag_task_ends(t);
	t->pub->status = STARPU_TASK_FINISHED;
}

/* The end of a round whose task is in the queues of its data again before others learn of it. Not
 * inlined: the many tasks that do not regenerate need no room for what is announced. */
static __attribute__((noinline)) void end_and_announce(struct orr_process *proc, struct orr_task *t,
						       const struct orr_worker *w)
{
	struct orr_round_end e;

	prepare_announcement(t, &e);
	tell_end(proc, t, w);
	end(t, &e);
}

/* Execution and all end dependencies are over. */
static void terminate(struct orr_task *t, struct orr_worker *w)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_process *proc = self->proc;
	uint64_t cause = orr_cause_begin(self, t);
	struct starpu_task *pub = t->pub;
	int waited_for, internal = t->internal, user_wait = t->user_wait;
	unsigned ctx = t->ctx;

	orr_assert_no_lock();
	orr_task_assert_of(t, ORR_TASK_OF_END);
	orr_assertf(!t->terminated && !t->parallel && !t->tag_missing, "task %s ends too early",
		    orr_task_name(pub));
	/* The last one was not counted down, see orr_task_release. */
	orr_assertf(ORR_ATOMIC_LOAD(&t->owner.ndeps) <= 1, "task %s ends and waits for %d things",
		    orr_task_name(pub), ORR_ATOMIC_LOAD(&t->owner.ndeps));
	if (t->owner.naccess)
		orr_access_release(&t->owner);
	if (__builtin_expect(t->bundled, 0))
		starpu_task_bundle_remove(pub->bundle, pub);
	orr_lock(&t->lock);
	t->terminated = 1; /* from here on nobody adds a successor */
	waited_for = (t->succ.n | t->end_succ.n) != 0 || t->edges;
	orr_unlock(&t->lock);
	if (__builtin_expect(!t->auto_destroy || pub->regenerate, 0)) {
		orr_task_may_go(t, ORR_TASK_ENDED);
		ORR_ATOMIC_STORE(&t->state, ORR_TASK_ENDED);
	}
	/* A task that regenerates enters the queues of its data once more before others learn of
	 * its end. Otherwise they might go on, stand before it there in their next round, and wait
	 * for its next end. */
	int later = 0;
	if (__builtin_expect(waited_for || t->tag, 0)) {
		later = pub->regenerate && t->owner.naccess;
		if (!later)
			announce_at_once(t);
	}
	if (pub->callback_func)
		run_callback(t, ORR_CALLBACK_DONE, pub->callback_func, pub->callback_arg);
	if (__builtin_expect(later, 0)) {
		later = pub->regenerate;
		if (!later)
			announce_at_once(t);
	}
	if (__builtin_expect(later, 0)) {
		end_and_announce(proc, t, w);
	} else {
		tell_end(proc, t, w);
		end(t, NULL);
	}
	self->cause = cause;
	if (__builtin_expect(ctx != 0, 0))
		orr_ctx_task_done(proc, ctx);
	if (!internal) {
		if (w)
			ORR_ATOMIC_STORE(&w->ncompleted, w->ncompleted + 1);
		else
			ORR_ATOMIC_ADD(&proc->core->ncompleted_other, 1);
	}
	if (user_wait || !w || ORR_ATOMIC_LOAD_RELAXED(&proc->core->ndone_waiters))
		orr_waitq_wake(&proc->done);
}

void orr_task_end_release(struct orr_task *t)
{
	struct orr_thread *self = orr_thread_self();

	if (ORR_ATOMIC_ADD(&t->nend_deps, -1) != 0)
		return;
	if (__builtin_expect(self->proc->trace != NULL, 0))
		t->ended_by = orr_last_of(orr_thread_cause(self));
	orr_assertf(!t->ended, "task %s ends twice", orr_task_name(t->pub));
	t->ended = 1;
	orr_owner_proceed(&t->owner);
}

void orr_task_proceed(struct orr_task *t)
{
	struct starpu_task *pub = t->pub;

	if (t->ended) {
		terminate(t, NULL);
		return;
	}
	orr_task_assert_of(t, ORR_TASK_OF_RUNTIME);
	orr_assert(t->where & STARPU_NOWHERE && !t->worker);
	if (__builtin_expect(pub->prologue_callback_pop_func != NULL, 0))
		run_callback(t, ORR_CALLBACK_TAKEN, pub->prologue_callback_pop_func,
			     pub->prologue_callback_pop_arg);
	if (t->body)
		t->body(&t->owner, t->pub->cl_arg);
	else if (t->owner.naccess && !t->skipped)
		execute_nowhere(t);
	else
		orr_task_complete(t, NULL);
}

void orr_task_complete(struct orr_task *t, struct orr_worker *w)
{
	orr_assertf(!w || (t->worker == w && orr_thread_self()->worker == w),
		    "worker %u ends a task of another thread", w ? w->id : 0);
	orr_task_pass(t, w ? ORR_TASK_OF_WORKER : ORR_TASK_OF_RUNTIME, ORR_TASK_OF_END);
	orr_assertf(ORR_ATOMIC_LOAD(&t->nend_deps) > 0,
		    "task %s has ended more often than its end waits for", orr_task_name(t->pub));
	if (__builtin_expect(t->pub->epilogue_callback_func != NULL, 0))
		run_callback(t, ORR_CALLBACK_EXECUTED, t->pub->epilogue_callback_func,
			     t->pub->epilogue_callback_arg);
	t->ended_by = 0;
	if (ORR_ATOMIC_LOAD(&t->nend_deps) == 1 || ORR_ATOMIC_ADD(&t->nend_deps, -1) == 0)
		terminate(t, w);
}
