/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of the program that idle workers call (starpu_expert.h).
 *
 * Invariant: no lock is held while one is called; a worker that found something to execute does not
 * come here. */
#include "core/worker/hooks.h"
#include "core/worker/worker.h"
#include "starpu_expert.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/worker/wake.h"

#include <errno.h>
#include <stdlib.h>

struct orr_hook {
	unsigned (*func)(void *); /* NULL: the place is free */
	void *arg;
	int idle;       /* only when nothing at all is to do */
	unsigned calls; /* under way */
};

/* A free place, under the lock; -1 when memory is exhausted. */
static int place(struct orr_process *proc)
{
	unsigned i;
	struct orr_hook *v;

	orr_assert_locked(&proc->lock);
	for (i = 0; i < proc->core->hooks_cap; i++)
		if (!proc->core->hooks[i].func && !proc->core->hooks[i].calls)
			return (int) i;
	v = realloc(proc->core->hooks, (i + 1) * sizeof(*v));
	if (!v)
		return -1;
	v[i] = (struct orr_hook){ 0 };
	proc->core->hooks = v;
	proc->core->hooks_cap = i + 1;
	return (int) i;
}

static int add(unsigned (*func)(void *), void *arg, int idle)
{
	struct orr_process *proc = orr_self();
	int id;

	if (!func)
		return -EINVAL;
	orr_lock(&proc->lock);
	id = place(proc);
	if (id >= 0) {
		proc->core->hooks[id].func = func;
		proc->core->hooks[id].arg = arg;
		proc->core->hooks[id].idle = idle;
		ORR_ATOMIC_ADD(&proc->core->nhooks, 1);
	}
	orr_unlock(&proc->lock);
	if (id < 0)
		return -ENOMEM;
	if (proc->state == ORR_PROCESS_UP)
		orr_wake_all(proc);
	return id;
}

static void drop(int id, int idle)
{
	struct orr_process *proc = orr_self();
	int found;

	orr_lock(&proc->lock);
	found = id >= 0 && (unsigned) id < proc->core->hooks_cap && proc->core->hooks[id].func &&
		proc->core->hooks[id].idle == idle;
	orr_assert(ORR_ATOMIC_LOAD(&proc->core->nhooks) <= proc->core->hooks_cap);
	if (found) {
		proc->core->hooks[id].func = NULL;
		ORR_ATOMIC_ADD(&proc->core->nhooks, -1);
	}
	orr_unlock(&proc->lock);
	if (!found)
		orr_error("there is no hook %d to deregister", id);
}

int starpu_progression_hook_register(unsigned (*func)(void *arg), void *arg)
{
	return add(func, arg, 0);
}
void starpu_progression_hook_deregister(int hook_id)
{
	drop(hook_id, 0);
}
int starpu_idle_hook_register(unsigned (*func)(void *arg), void *arg)
{
	return add(func, arg, 1);
}
void starpu_idle_hook_deregister(int hook_id)
{
	drop(hook_id, 1);
}

/* Has none of the group's workers anything in flight? */
static int all_idle(const struct orr_group *g)
{
	for (unsigned i = 0; i < g->nworkers; i++)
		if (g->workers[i].state != ORR_WORKER_IDLE)
			return 0;
	return 1;
}

int orr_hooks_run(struct orr_group *g)
{
	struct orr_process *proc = g->proc;
	struct orr_thread *self = orr_thread_self();
	int idle = all_idle(g), more = 0;

	orr_assertf(!self->worker, "hooks are called while worker %u is stepped",
		    self->worker ? self->worker->id : 0);
	orr_worker_enter(self, g->workers);
	orr_lock(&proc->lock);
	for (unsigned i = 0; i < proc->core->hooks_cap; i++) {
		struct orr_hook h = proc->core->hooks[i];

		if (!h.func || (h.idle && !idle))
			continue;
		proc->core->hooks[i].calls++;
		orr_unlock(&proc->lock);
		more |= h.func(h.arg) == 0;
		orr_lock(&proc->lock);
		orr_assertf(i < proc->core->hooks_cap && proc->core->hooks[i].calls > 0,
			    "hook %u ended while it ran", i);
		proc->core->hooks[i].calls--;
	}
	orr_unlock(&proc->lock);
	orr_worker_enter(self, NULL);
	return more;
}

void orr_hooks_exit(struct orr_process *proc)
{
	for (unsigned i = 0; i < proc->core->hooks_cap; i++)
		orr_assertf(!proc->core->hooks[i].calls, "hook %u is called at the end", i);
	free(proc->core->hooks);
	proc->core->hooks = NULL;
	proc->core->hooks_cap = proc->core->nhooks = 0;
}
