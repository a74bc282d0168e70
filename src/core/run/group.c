/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loop that steps a group of workers (see group.h).
 *
 * Invariant: the group's thread sleeps only after it announced that (wake.h) and found nothing once
 * more. */
#include "core/run/group.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/run/execute.h"
#include "core/worker/group_heap.h"
#include "core/worker/hooks.h"
#include "core/worker/poll_hook.h"
#include "core/worker/nap.h"
#include "core/flow/parallel.h"
#include "core/task/task_trace.h"
#include "core/worker/wake.h"
#include "core/worker/device.h"
#include "core/worker/worker.h"
#include "core/run/worker_step.h"
#include "data/data.h"
#include "data/fetch.h"
#include "data/prefetch.h"
#include "data/tidy.h"
#include "data/transfer.h"

/* The first known end of a kernel; negative: none. */
static double first_end(const struct orr_group *g)
{
	return g->nheap && isfinite(g->heap[0]->kernel.end_us) ? g->heap[0]->kernel.end_us : -1;
}

/* The memory that the group's prefetches go to first. */
static unsigned own_memnode(const struct orr_group *g)
{
	return g->nworkers ? g->workers->memnode : STARPU_MAIN_RAM;
}

/* The earlier of two instants; negative: none. */
static double earlier(double a, double b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* The time to ask the devices about their kernels; negative: they wake the group. */
static double first_due(const struct orr_group *g)
{
	double due = -1;

	for (unsigned i = 0; i < g->nworkers; i++) {
		const struct orr_worker *w = &g->workers[i];

		if (w->later && isfinite(w->launch.due_us))
			due = earlier(due, w->launch.due_us);
	}
	return due;
}

/* A thread that spins saves the time to wake it, but not when it waits for a device. */
static int may_spin(const struct orr_group *g)
{
	return !g->nlater && !ORR_ATOMIC_LOAD_RELAXED(&g->proc->data->flights);
}

/* One thread steps a group at a time, and not from inside of a step. */
static inline void step_begins(struct orr_group *g, struct orr_thread *self)
{
#ifdef ORR_DEBUG
	struct orr_thread *nobody = NULL;
	int alone = ORR_ATOMIC_CAS(&g->stepper, &nobody, self);

	orr_assertf(alone, "two threads step the group of worker %u", g->first);
#endif
	orr_assertf(g->begun || !g->thread, "worker %u is stepped before its start", g->first);
	orr_assertf(!self->worker, "the thread of worker %u steps another group", g->first);
	orr_assert(g->nheap + g->nlater <= g->nworkers && !ORR_ATOMIC_LOAD(&g->sleeping));
}

/* The counts of the group are those of its workers. */
static inline void step_ends(struct orr_group *g, struct orr_thread *self)
{
#ifdef ORR_DEBUG
	unsigned nlater = 0, nheap = 0;

	for (unsigned i = 0; i < g->nworkers; i++) {
		const struct orr_worker *w = &g->workers[i];

		nlater += w->later;
		nheap += w->state == ORR_WORKER_RUNNING && !w->later && !w->member;
	}
	orr_assertf(nlater == g->nlater, "%u devices of a group are busy, of %u workers", g->nlater,
		    nlater);
	orr_assertf(nheap <= g->nheap, "%u kernels have a known end, of %u workers", g->nheap,
		    nheap);
	orr_assert(ORR_ATOMIC_LOAD(&g->stepper) == self);
	ORR_ATOMIC_STORE(&g->stepper, NULL);
#endif
	(void) g;
	(void) self;
}

/* True for a worker whose step may do something although no task is ready. */
static inline int needs_steps(const struct orr_worker *w)
{
	return w->state != ORR_WORKER_IDLE &&
	       (w->state != ORR_WORKER_RUNNING || w->pipeline || w->member);
}

/* True if no worker but the busy ones can advance, as no task is ready, in policies of ours, which
 * make no tasks up. A simulated node has tens of workers, and most of their steps find nothing. */
static inline int none_is_ready(const struct orr_core *core)
{
	return !ORR_ATOMIC_LOAD(&core->nready) && ORR_ATOMIC_LOAD_RELAXED(&core->nctxs) == 1 &&
	       core->ctx0.policy_wakes && !ORR_ATOMIC_LOAD_RELAXED(&core->njoins);
}

/* Steps the workers, of which idle ones are left out while none is ready. */
static int step_counted(struct orr_group *g, struct orr_thread *self, struct orr_worker *w,
			const struct orr_worker *end)
{
	unsigned nleft = g->nbusy, nbusy = 0;
	int advanced = 0;

	for (; w < end; w++) {
		int rests = !nleft && none_is_ready(g->proc->core), did;

#ifndef ORR_DEBUG
		if (rests)
			break;
#endif
		nleft -= nleft && needs_steps(w);
		did = orr_worker_step(w, self);
		orr_assertf(!rests || (!did && !needs_steps(w)),
			    "worker %u advances, and no task was ready", w->id);
		advanced |= did;
		nbusy += needs_steps(w);
	}
	g->nbusy = nbusy;
	return advanced;
}

static int step_workers(struct orr_group *g, struct orr_thread *self)
{
	struct orr_worker *w = g->workers, *end = w + g->nworkers;
	int advanced = 0;

	if (__builtin_expect(g->counts, 0))
		return step_counted(g, self, w, end);
	for (; w < end; w++)
		advanced |= orr_worker_step(w, self);
	return advanced;
}

int orr_group_step(struct orr_group *g, double *next_us)
{
	struct orr_thread *self = orr_thread_self();
	int advanced = 0;
	double transfer;

	orr_assert_no_lock();
	step_begins(g, self);
	transfer = orr_transfer_progress(g->proc);
	if (g->nheap) {
		double now = orr_sys_now_us();

		while (g->nheap && g->heap[0]->kernel.end_us <= now) {
			struct orr_worker *over = orr_group_heap_pop(g);

			orr_worker_enter(self, over);
			if (__builtin_expect(!over->member, 1) || orr_parallel_time_is_over(over))
				orr_execute_finish(over, self);
			g->nbusy += needs_steps(over);
			advanced = 1;
		}
	}
	advanced |= step_workers(g, self);
	orr_worker_enter(self, NULL);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&g->proc->data->again) != 0, 0))
		orr_fetch_retry_again(g->proc);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&g->proc->data->nprefetch) != 0, 0))
		advanced |= orr_prefetch_progress(g->proc, own_memnode(g), !advanced);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&g->proc->data->untidy) != 0, 0) &&
	    (!advanced || ORR_ATOMIC_LOAD_RELAXED(&g->proc->data->overflowed)))
		advanced |= orr_memory_tidy(g->proc);
	*next_us = first_end(g);
	if (__builtin_expect(g->nlater, 0))
		*next_us = earlier(*next_us, first_due(g));
	*next_us = earlier(*next_us, transfer);
	step_ends(g, self);
	return advanced;
}

static int joined(const struct orr_group *g)
{
	for (unsigned i = 0; i < g->nworkers; i++)
		if (g->workers[i].state == ORR_WORKER_JOINED)
			return 1;
	return 0;
}

/* A worker sleeps so long while a hook of the program has more to do. */
#define HOOK_POLL_US 20

static void group_awake(struct orr_group *g)
{
	ORR_ATOMIC_STORE(&g->sleeping, 0); /* before it leaves the mask */
	g->in_recess = 0;
	orr_wake_delist(g);
	orr_assert(!orr_wake_is_listed(g));
	orr_poll_hook_call(g->proc, 0);
}

/* True if a task that is queued now finds no worker in the group: each of them executes one, until
 * an instant that is known. A wake-up that such a group claimed would be missed by an idle one.
 * Where one thread steps all workers it also moves data meanwhile. */
static int all_execute(const struct orr_group *g)
{
	return g->nheap == g->nworkers && g->proc->ngroups > 1 && !g->workers->pipeline;
}

/* Waits for the bell, or until something is known to end, or for at most max_us (negative: no
 * limit). Returns 1 when that takes a recess: group_awake() comes behind it. */
static int group_sleep(struct orr_group *g, double max_us)
{
	struct orr_process *proc = g->proc;
	unsigned key;
	double next_us;
	int advanced;

	orr_assertf(!orr_wake_is_listed(g) && !g->in_recess,
		    "the group of worker %u is awake and counted among those that sleep", g->first);
	orr_nap_begin(g);
	/* The bell comes first: a thread that takes the group out of the set must be heard. Else,
	 * if another group has its task meanwhile, this one would sleep outside of the set. */
	key = orr_waitq_prepare(&g->bell);
	if (!all_execute(g))
		orr_wake_enlist(g);
	/* Once more, now that others know that they must ring. */
	advanced = orr_group_step(g, &next_us);
	g->looks_again = 0;
	if (advanced || (ORR_ATOMIC_LOAD(&proc->core->stopping) && !g->nlater && !g->nheap)) {
		orr_waitq_cancel(&g->bell);
	} else {
		double limit = next_us >= 0 ? next_us - orr_sys_now_us() : -1;

		if (next_us >= 0 && limit <= 0) {
			orr_waitq_cancel(&g->bell);
		} else {
			if (max_us >= 0 && (limit < 0 || limit > max_us))
				limit = max_us;
			g->in_recess = 1;
			/* A device that executes a kernel will ring. */
			ORR_ATOMIC_STORE(&g->sleeping, limit < 0 && !g->nlater);
			if (orr_waitq_recess(&g->bell, key, limit))
				return 1;
		}
	}
	group_awake(g);
	return 0;
}

static void begin_worker(struct orr_worker *w)
{
	orr_worker_trace(w, starpu_prof_tool_event_driver_init_start);
	w->driver->init(w);
	orr_worker_trace(w, starpu_prof_tool_event_driver_init);
	orr_worker_trace(w, starpu_prof_tool_event_driver_init_end);
}

static void end_worker(struct orr_worker *w)
{
	orr_worker_trace(w, starpu_prof_tool_event_driver_deinit);
	orr_assertf(!w->task && !w->next && !w->member, "worker %u ends and has a task", w->id);
	w->driver->deinit(w);
}

static void begin_group(struct orr_group *g)
{
	orr_assertf(!g->begun && !g->nheap && !g->nlater, "a group begins twice");
	g->begun = 1;
	for (unsigned i = 0; i < g->nworkers; i++)
		begin_worker(&g->workers[i]);
}

static void end_group(struct orr_group *g)
{
	orr_assertf(g->begun && !g->nheap && !g->nlater, "a group ends while kernels run");
	orr_nap_end_all(g);
	for (unsigned i = 0; i < g->nworkers; i++)
		end_worker(&g->workers[i]);
	g->begun = 0;
}

void *orr_group_main(void *arg)
{
	struct orr_group *g = arg;
	struct orr_process *proc = g->proc;
	double spin_us = orr_sys_spin_us(proc), idle_since = -1, next_us;
	int more;

	if (!g->begun)
		begin_group(g);
	if (g->in_recess)
		group_awake(g);
	while (!ORR_ATOMIC_LOAD(&proc->core->stopping) || g->nheap || g->nlater) {
		if (orr_group_step(g, &next_us)) {
			idle_since = -1;
			orr_poll_hook_call(proc, 0);
			continue;
		}
		if (idle_since < 0) {
			/* Threads that wait for all tasks are told here rather than after each
			 * task.
			 */
			orr_waitq_wake(&proc->done);
			idle_since = spin_us > 0 ? orr_sys_now_us() : 0;
		}
		more = __builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->core->nhooks) != 0, 0) &&
		       orr_hooks_run(g);
		if (spin_us > 0 && next_us < 0 && may_spin(g) &&
		    orr_sys_now_us() - idle_since < spin_us) {
			for (unsigned n = 0; n < 32; n++)
				orr_sys_relax();
			continue;
		}
		orr_poll_hook_call(proc, 1);
		if (group_sleep(g, more ? HOOK_POLL_US : -1))
			return ORR_RECESS;
		idle_since = -1;
	}
	/* Members of the last parallel task may not have left it. */
	while (joined(g))
		orr_group_step(g, &next_us);
	end_group(g);
	return NULL;
}

int orr_group_start_all(struct orr_process *proc)
{
	for (unsigned i = 0; i < proc->ngroups; i++) {
		struct orr_group *g = &proc->core->groups[i];
		struct orr_worker *w = g->workers;

		if (orr_worker_driven_by_program(proc, w))
			continue;
		g->thread = orr_sys_thread_start(proc, ORR_ROLE_WORKERS, w->name, w->bindid,
						 orr_group_main, g);
		if (!g->thread) {
			int err = errno;

			orr_error("the thread of worker %s cannot be started: %s", w->name,
				  strerror(err));
			return -err;
		}
	}
	return 0;
}

void orr_group_stop_all(struct orr_process *proc)
{
	ORR_ATOMIC_STORE(&proc->core->stopping, 1);
	for (unsigned i = 0; i < proc->ngroups; i++)
		orr_waitq_wake(&proc->core->groups[i].bell);
	for (unsigned i = 0; i < proc->ngroups; i++)
		if (proc->core->groups[i].thread)
			orr_sys_thread_join(proc->core->groups[i].thread);
}
