/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions within a process (see redux.h).
 *
 * A contribution is a handle of its own (same interface, no home). While contributions exist the
 * handle's queue lets only further contributions in; when another access waits and the contributing
 * group is over, one internal task per contribution runs the reduction codelet on (h RW,
 * contribution R), each releases its contribution, and the last one lets the queue go on.
 *
 * Invariant: ext->redux exists exactly while there are contributions that are not combined. */
#include "data/redux.h"
#include "data/access.h"
#include "data/handle.h"
#include "base/log.h"
#include "data/data.h"
#include "data/fetch.h"
#include "data/handle_attributes.h"
#include "data/initial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct orr_redux {
	starpu_data_handle_t handle;
	unsigned n, cap;
	struct {
		unsigned worker;
		starpu_data_handle_t handle;
	} * part;
	int reducing;
	int remaining; /* atomic: reduction tasks not over */
};

int orr_redux_blocks(starpu_data_handle_t h, int access_class)
{
	struct orr_redux *r = h->ext ? h->ext->redux : NULL;

	orr_assert_locked(&h->lock);
	if (!r)
		return 0;
	if (r->reducing)
		return 1;
	return access_class != ORR_CLASS_REDUX;
}

static starpu_data_handle_t find_part(struct orr_redux *r, unsigned worker)
{
	for (unsigned i = 0; r && i < r->n; i++)
		if (r->part[i].worker == worker)
			return r->part[i].handle;
	return NULL;
}

static int add_part(starpu_data_handle_t h, unsigned worker, starpu_data_handle_t part)
{
	struct orr_data_ext *ext = orr_handle_ext(h);

	orr_assert_locked(&h->lock);
	if (!ext)
		return -ENOMEM;
	struct orr_redux *r = ext->redux;
	if (!r) {
		r = calloc(1, sizeof(*r));
		if (!r)
			return -ENOMEM;
		r->handle = h;
		ext->redux = r;
	}
	if (r->n == r->cap) {
		unsigned cap = r->cap ? 2 * r->cap : 4;
		void *v = realloc(r->part, cap * sizeof(*r->part));

		if (!v)
			return -ENOMEM;
		r->part = v;
		r->cap = cap;
	}
	orr_assert(!r->reducing && !find_part(r, worker));
	r->part[r->n].worker = worker;
	r->part[r->n++].handle = part;
	return 0;
}

/* A new datum is nobody else's: its request waits for nothing but memory. */
static void nobody_waits(void *arg)
{
	(void) arg;
}

/* Runs the init codelet on the fresh contribution, in the worker's thread, as part of the task that
 * contributes: where the worker finds its data when there is a function for it, else in main
 * memory. */
static int initialise(starpu_data_handle_t h, const struct orr_contributor *w, unsigned memnode,
		      starpu_data_handle_t part)
{
	struct orr_fetch rq = { .handle = part, .mode = STARPU_W, .effort = ORR_EFFORT_WRITEBACK };
	orr_initial_func f = memnode == w->memnode ? orr_initial_function(h, w->arch) : NULL;

	if (!f) {
		memnode = STARPU_MAIN_RAM;
		f = orr_initial_function(h, STARPU_CPU_WORKER);
	}
	if (!f) {
		orr_error(
			"%s is accessed with STARPU_REDUX without an init codelet for %s: call starpu_data_set_reduction_methods",
			orr_handle_name(h), w->name);
		return -EINVAL;
	}
	rq.memnode = (uint8_t) memnode;
	rq.starved = nobody_waits;
	switch (orr_fetch_request(&rq)) {
	case ORR_FETCH_READY: break;
	case ORR_FETCH_FAILED: return rq.error;
	default: return -EAGAIN; /* starved; nobody else knows the datum, so it never waits */
	}
	/* Part of what the task costs. */
	orr_thread_self()->debt_us += orr_initial_run(orr_self(), h, f, part, memnode);
	orr_fetch_unref(part, memnode);
	return 0;
}

starpu_data_handle_t orr_redux_part(starpu_data_handle_t h, unsigned worker)
{
	orr_lock(&h->lock);
	starpu_data_handle_t part = find_part(h->ext ? h->ext->redux : NULL, worker);
	orr_handle_unlock(h);
	return part;
}

int orr_redux_contribution(starpu_data_handle_t h, const struct orr_contributor *w,
			   unsigned memnode, starpu_data_handle_t *out)
{
	starpu_data_handle_t part = orr_redux_part(h, w->id);

	if (part) {
		*out = part;
		return 0;
	}
	starpu_data_register_same(&part, h);
	int ret = initialise(h, w, memnode, part);
	if (ret == 0) {
		orr_lock(&h->lock);
		ret = add_part(h, w->id, part);
		orr_handle_unlock(h);
	}
	if (ret) {
		starpu_data_unregister_submit(part);
		return ret;
	}
	*out = part;
	return 0;
}

/* One contribution is in; the last lets the others go on. */
static void part_done(void *arg)
{
	struct orr_redux *r = arg;
	struct orr_process *proc = orr_self();
	starpu_data_handle_t h = r->handle;

	orr_assert(ORR_ATOMIC_LOAD(&r->remaining) > 0);
	if (ORR_ATOMIC_ADD(&r->remaining, -1) == 0) {
		orr_lock(&h->lock);
		orr_assert(h->ext->redux == r && r->reducing);
		h->ext->redux = NULL;
		orr_handle_unlock(h);
		free(r->part);
		free(r);
		orr_access_regrant(h);
	}
	if (ORR_ATOMIC_ADD(&proc->data->nbackground, -1) == 0)
		orr_waitq_wake(&proc->done);
}

/* The reduction tasks use the handle itself outside of the queue: they hold it by phase two among
 * themselves. */
static void submit_part(struct orr_redux *r, unsigned i)
{
	starpu_data_handle_t h = r->handle, part = r->part[i].handle, both[] = { h, part };
	struct orr_inner_task d = { .name = "reduction",
				    .cl = h->ext->redux_cl,
				    .arg = h->ext->redux_arg,
				    .n = 2,
				    .handles = both,
				    .callback = part_done,
				    .callback_arg = r,
				    .unordered = 1,
				    .uncounted = 1 };
	int ret = orr_self()->data->up->submit(&d);

	if (ret)
		orr_fatal("the reduction codelet of %s cannot be submitted: %s", orr_handle_name(h),
			  strerror(-ret));
	starpu_data_unregister_submit(part);
}

struct orr_redux *orr_redux_start(starpu_data_handle_t h)
{
	struct orr_redux *r = h->ext ? h->ext->redux : NULL;

	orr_assert_locked(&h->lock);
	if (!r || r->reducing || h->ngranted || h->nheld || !h->head)
		return NULL;
	if (!h->ext->redux_cl)
		orr_fatal(
			"%s was contributed to with STARPU_REDUX but has no reduction codelet: call starpu_data_set_reduction_methods",
			orr_handle_name(h));
	orr_assert(r->n > 0 && r->handle == h);
	r->reducing = 1;
	return r;
}

void orr_redux_run(struct orr_redux *r)
{
	unsigned n = r->n;

	orr_assert_no_lock();
	orr_assert(r->reducing && n > 0);
	r->remaining = (int) n;
	ORR_ATOMIC_ADD(&orr_self()->data->nbackground, n);
	/* With the last task submitted r may be gone. */
	for (unsigned i = 0; i < n; i++)
		submit_part(r, i);
}

/* ---- the program's settings ---- */

int orr_redux_check(starpu_data_handle_t h, const char *what)
{
	if (h->ext && h->ext->redux_cl && h->ext->init_cl)
		return 0;
	orr_error(
		"%s: %s is accessed with STARPU_REDUX but has no methods to reduce and initialise; call starpu_data_set_reduction_methods first",
		what, orr_handle_name(h));
	return -EINVAL;
}

void starpu_data_set_reduction_methods_with_args(starpu_data_handle_t handle,
						 struct starpu_codelet *redux_cl,
						 void *redux_cl_arg, struct starpu_codelet *init_cl,
						 void *init_cl_arg)
{
	orr_handle_must_be_known(handle, "starpu_data_set_reduction_methods");
	orr_lock(&handle->lock);
	struct orr_data_ext *ext = orr_handle_ext(handle);
	if (ext) {
		ext->redux_cl = redux_cl;
		ext->redux_arg = redux_cl_arg;
		ext->init_cl = init_cl;
		ext->init_arg = init_cl_arg;
	}
	orr_handle_unlock(handle);
	if (!ext)
		orr_fatal("out of memory while setting reduction methods");
}

void starpu_data_set_reduction_methods(starpu_data_handle_t handle, struct starpu_codelet *redux_cl,
				       struct starpu_codelet *init_cl)
{
	starpu_data_set_reduction_methods_with_args(handle, redux_cl, NULL, init_cl, NULL);
}

/* ---- arbiters: all-or-nothing locking is how every commuting access works here, so that an
 * arbiter only needs to exist ---- */

struct starpu_arbiter {
	unsigned refs; /* atomic: handles, and the program until it destroys it */
};

static void arbiter_unref(starpu_arbiter_t arbiter)
{
	if (ORR_ATOMIC_ADD(&arbiter->refs, -1) == 0)
		free(arbiter);
}

starpu_arbiter_t starpu_arbiter_create(void)
{
	starpu_arbiter_t arbiter = calloc(1, sizeof(*arbiter));

	if (arbiter)
		arbiter->refs = 1;
	return arbiter;
}

void starpu_data_assign_arbiter(starpu_data_handle_t handle, starpu_arbiter_t arbiter)
{
	const char *wrong = NULL;

	orr_handle_must_be_known(handle, __func__);
	if (!arbiter) {
		orr_error(
			"starpu_data_assign_arbiter: the arbiter of %s is NULL; nothing is assigned",
			orr_handle_name(handle));
		return;
	}
	orr_lock(&handle->lock);
	if (!orr_handle_ext(handle))
		wrong = "memory is exhausted";
	else if (handle->ext->arbiter)
		wrong = "it has an arbiter already, and keeps that";
	else if (handle->ngranted || handle->head || handle->nheld ||
		 ORR_ATOMIC_LOAD(&handle->npins))
		wrong = "tasks use it already; assign the arbiter before";
	else
		handle->ext->arbiter = arbiter;
	orr_handle_unlock(handle);
	if (wrong)
		orr_error("starpu_data_assign_arbiter to %s: %s", orr_handle_name(handle), wrong);
	else
		ORR_ATOMIC_ADD(&arbiter->refs, 1);
}

void orr_arbiter_forget(starpu_data_handle_t h)
{
	if (h->ext && h->ext->arbiter)
		arbiter_unref(h->ext->arbiter);
}

/* The handles that it was assigned to keep it until they end. */
void starpu_arbiter_destroy(starpu_arbiter_t arbiter)
{
	if (arbiter)
		arbiter_unref(arbiter);
}
