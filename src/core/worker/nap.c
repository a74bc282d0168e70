/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Callbacks of workers that go to sleep and wake up (see nap.h).
 *
 * Invariant: w->asleep says which of the two was called last. A worker that went to sleep before a
 * callback was set wakes up silently. */
#include "core/worker/nap.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/worker/worker.h"

typedef void (*nap_callback_t)(unsigned workerid);

static void call(nap_callback_t callback, struct orr_worker *w)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_worker *stepped = self->worker;

	if (!callback)
		return;
	orr_assert_no_lock();
	orr_assertf(!stepped || stepped->group == w->group,
		    "worker %u is told of by the thread of another group", w->id);
	orr_worker_enter(self, w);
	callback(w->id);
	orr_worker_enter(self, stepped);
}

void orr_nap_begin(struct orr_group *g)
{
	struct orr_process *proc = g->proc;
	nap_callback_t sleeps = ORR_ATOMIC_LOAD(&proc->naps), wakes = ORR_ATOMIC_LOAD(&proc->wakes);

	if (__builtin_expect(!sleeps && !wakes, 1))
		return;
	for (unsigned i = 0; i < g->nworkers; i++) {
		struct orr_worker *w = &g->workers[i];

		orr_assert(!w->asleep || w->state == ORR_WORKER_IDLE);
		if (w->state != ORR_WORKER_IDLE || w->asleep)
			continue;
		w->asleep = 1;
		call(sleeps, w);
	}
}

void orr_nap_end(struct orr_worker *w)
{
	orr_assertf(w->asleep, "worker %u wakes up, and did not sleep", w->id);
	w->asleep = 0;
	call(ORR_ATOMIC_LOAD(&w->group->proc->wakes), w);
}

void orr_nap_end_all(struct orr_group *g)
{
	for (unsigned i = 0; i < g->nworkers; i++) {
		struct orr_worker *w = &g->workers[i];

		if (w->asleep)
			orr_nap_end(w);
	}
}

/* starpu_init overwrites what was set before. */
static int runs(const char *function)
{
	if (ORR_ATOMIC_LOAD(&orr_self()->state) == ORR_PROCESS_UP)
		return 1;
	orr_error("%s before starpu_init: set the field of struct starpu_conf instead", function);
	return 0;
}

void starpu_worker_set_going_to_sleep_callback(void (*callback)(unsigned workerid))
{
	if (runs(__func__))
		ORR_ATOMIC_STORE(&orr_self()->naps, callback);
}

void starpu_worker_set_waking_up_callback(void (*callback)(unsigned workerid))
{
	if (runs(__func__))
		ORR_ATOMIC_STORE(&orr_self()->wakes, callback);
}
