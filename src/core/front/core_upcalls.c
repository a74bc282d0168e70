/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions of the floors below about tasks and workers (see upcalls.h): the tasks of the data
 * layer, and waking for threads that park.
 *
 * Invariant: the data layer knows tasks only as owners of accesses, and by the table of this file.
 */
#include "core/front/core_upcalls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/worker/device.h"
#include "core/task/graph.h"
#include "core/ctx/policy.h"
#include "core/task/task_count.h"
#include "core/flow/task_data.h"
#include "core/flow/task_state.h"
#include "core/flow/task_submit.h"
#include "core/worker/wake.h"
#include "core/task/task.h"

/* ---- tasks of the data layer ---- */

static int set_data(struct starpu_task *task, const struct orr_inner_task *d)
{
	starpu_data_handle_t *handles = task->handles;
	enum starpu_data_access_mode *modes = task->modes;

	if (d->n > STARPU_NMAXBUFS) {
		handles = task->dyn_handles = malloc(d->n * sizeof(*handles));
		modes = task->dyn_modes = malloc(d->n * sizeof(*modes));
		if (!handles || !modes)
			return -ENOMEM;
	}
	memcpy(handles, d->handles, d->n * sizeof(*handles));
	if (d->modes)
		memcpy(modes, d->modes, d->n * sizeof(*modes));
	if (d->cl->nbuffers == STARPU_VARIABLE_NBUFFERS)
		task->nbuffers = (int) d->n;
	return 0;
}

static int upcall_submit(const struct orr_inner_task *d)
{
	struct starpu_task *task = starpu_task_create();
	struct orr_task *t = task ? orr_task_private(task) : NULL;
	int ret = -ENOMEM;

	if (!t || set_data(task, d)) {
		orr_error("out of memory for the task %s of the runtime",
			  d->name ? d->name : d->cl->name);
	} else {
		task->cl = d->cl;
		task->name = d->name;
		task->cl_arg = d->arg;
		task->cl_arg_size = d->arg_size;
		task->cl_arg_free = d->arg_size != 0;
		task->callback_func = d->callback;
		task->callback_arg = d->callback_arg;
		task->priority = d->priority;
		task->flops = d->flops;
		task->sequential_consistency = !d->unordered;
		task->synchronous = d->synchronous;
		if (d->body)
			task->where = STARPU_NOWHERE;
		t->body = d->body;
		t->switches = d->switches;
		t->copies = d->copies;
		ret = d->uncounted ? orr_task_submit(task) : starpu_task_submit(task);
	}
	if (ret && task) {
		task->cl_arg_free = 0;
		starpu_task_destroy(task);
	}
	return ret;
}

static void upcall_complete(struct orr_owner *o)
{
	orr_task_complete(orr_task_of_owner(o), NULL);
}

static const char *upcall_task_name(const struct orr_task *t)
{
	return orr_task_name(t->pub);
}

static int upcall_starving(void)
{
	const struct orr_worker *w = orr_thread_self()->worker;

	return w && w->starving;
}

static void upcall_forget(struct orr_process *proc, starpu_data_handle_t h)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD(&proc->core->graph) != NULL, 0))
		orr_graph_forget(proc, h);
}

/* The worker whose device has that memory; NULL: units of CPUs have it, or nobody. */
static struct orr_worker *device_worker(struct orr_process *proc, unsigned memnode)
{
	if (proc->data->memnodes[memnode]->kind == STARPU_CPU_RAM)
		return NULL;
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (proc->core->workers[i].memnode == memnode)
			return &proc->core->workers[i];
	return NULL;
}

static void upcall_call(struct orr_process *proc, unsigned memnode, void (*f)(void **, void *),
			void **buffers, void *arg)
{
	struct orr_worker *w = device_worker(proc, memnode);
	struct orr_thread *self = orr_thread_self();
	struct orr_worker *stepped = self->worker;
	unsigned here = self->memnode;

	orr_assertf(memnode < proc->data->nmemnodes, "memory node %u of %u", memnode,
		    proc->data->nmemnodes);
	if (!w) {
		f(buffers, arg);
		return;
	}
	/* The context stays that of the thread: the worker's belongs to the thread that steps it.
	 */
	self->worker = w;
	self->memnode = memnode;
	w->driver->call(w, f, buffers, arg);
	orr_assertf(self->worker == w, "the driver %s leaves the thread to another worker",
		    w->driver->name);
	self->worker = stepped;
	self->memnode = here;
}

const struct orr_data_upcalls orr_core_data_upcalls = {
	.submit = upcall_submit,
	.complete = upcall_complete,
	.task_name = upcall_task_name,
	.npending = orr_task_npending,
	.starving = upcall_starving,
	.call = upcall_call,
	.forget = upcall_forget,
};

/* ---- parking ---- */

static void park_give_out(struct orr_process *proc)
{
	orr_assert_no_lock();
	orr_owners_proceed(orr_thread_self());
	if (ORR_ATOMIC_LOAD_RELAXED(&proc->nholding))
		orr_policy_give_out(proc, 1);
}

static void park_wake_others(struct orr_process *proc)
{
	const struct orr_worker *w = orr_thread_self()->worker;

	ORR_ATOMIC_FENCE();
	for (unsigned i = 0; i < proc->ngroups; i++)
		if (!w || &proc->core->groups[i] != w->group)
			orr_wake_group_fenced(proc, i);
}

static void park_wake_group(struct orr_process *proc, unsigned g)
{
	ORR_ATOMIC_FENCE();
	orr_wake_group_fenced(proc, g);
}

const struct orr_park_ops orr_core_park_ops = {
	.give_out = park_give_out,
	.wake_one = orr_wake_one,
	.wake_all = orr_wake_all,
	.wake_others = park_wake_others,
	.wake_group = park_wake_group,
};
