/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data of tasks (see task_data.h), and the tasks of the data layer.
 *
 * Invariant: the data layer knows tasks only as owners of accesses, and by the table of this file.
 */
#include "core/task_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/graph.h"
#include "core/upcalls.h"
#include "core/worker.h"
#include "data/data.h"
#include "data/handle.h"
#include "data/access.h"

/* ---- tasks as owners ---- */

static void task_turn(struct orr_owner *o)
{
	orr_task_release(orr_task_of_owner(o));
}

static void task_held(struct orr_owner *o)
{
	orr_task_held(orr_task_of_owner(o));
}

static void task_proceed(struct orr_owner *o)
{
	orr_task_proceed(orr_task_of_owner(o));
}

static const char *task_name(const struct orr_owner *o)
{
	return orr_task_name(orr_task_of_owner(o)->pub);
}

static const struct orr_owner_ops task_owner_ops = {
	.turn = task_turn,
	.held = task_held,
	.proceed = task_proceed,
	.name = task_name,
};

int orr_task_data_reserve(struct orr_task *t)
{
	unsigned n = orr_task_nbuffers(t->pub);
	void **interfaces;

	t->owner.ops = &task_owner_ops;
	t->owner.naccess = n;
	t->owner.access = t->inl_access;
	if (__builtin_expect(n <= STARPU_NMAXBUFS, 1))
		return 0;
	t->owner.access = malloc(n * sizeof(*t->owner.access));
	interfaces = t->owner.access ? realloc(t->pub->dyn_interfaces, n * sizeof(*interfaces))
				     : NULL;
	if (!interfaces) {
		free(t->owner.access);
		t->owner.access = NULL;
		t->owner.naccess = 0;
		orr_error("task %s: out of memory for its %u data", orr_task_name(t->pub), n);
		return -ENOMEM;
	}
	memset(interfaces, 0, n * sizeof(*interfaces));
	t->pub->dyn_interfaces = interfaces;
	return 0;
}

/* Is access i under sequential consistency? */
static int is_sequential(const struct starpu_task *pub, starpu_data_handle_t h, unsigned i)
{
	if (!pub->sequential_consistency)
		return 0;
	if (pub->handles_sequential_consistency && !pub->handles_sequential_consistency[i])
		return 0;
	return h->sequential;
}

void orr_task_data_submit(struct orr_task *t, int nodeps)
{
	for (unsigned i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];
		starpu_data_handle_t h = orr_task_handle(t->pub, i);
		unsigned mode = orr_task_mode(t->pub, i);

		if (mode & STARPU_MPI_REDUX)
			mode |= STARPU_RW | STARPU_COMMUTE;
		memset(a, 0, sizeof(*a));
		a->handle = h;
		a->owner = &t->owner;
		a->mode = (uint16_t) mode;
		a->node = -1;
		a->ordered = (mode & (STARPU_R | STARPU_W | STARPU_REDUX)) && !nodeps &&
			     is_sequential(t->pub, h, i);
	}
	orr_access_submit(&t->owner);
}

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

const struct orr_data_upcalls orr_core_data_upcalls = {
	.submit = upcall_submit,
	.complete = upcall_complete,
	.task_name = upcall_task_name,
	.npending = orr_task_npending,
	.starving = upcall_starving,
	.forget = upcall_forget,
};
