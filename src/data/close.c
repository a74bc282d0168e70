/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of data, or of their contents: unregistration and invalidation (handbook 27.2), pins.
 *
 * Both are accesses for writing, behind everything that was submitted. An unregistration gives its
 * access back, so that accesses outside of the order can come to their end. The handle ends with
 * its last pin; only then its value is brought home or dropped.
 *
 * Invariant: the thread that takes npins to ORR_PINS_LAST ends the handle. That happens once for
 * each handle, and nobody can pin it from then on. */
#include "data/handle.h"
#include "data/data.h"
#include "base/park.h"
#include "data/acquire.h"
#include "data/close.h"
#include "data/data_copy.h"
#include "data/fetch.h"
#include "data/filters_views.h"
#include "data/prefetch.h"
#include "data/redux.h"
#include "data/transfer.h"
#include "base/log.h"
#include "data/mapping.h"
#include "data/memory.h"
#include "data/access.h"
#include "data/handle_contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Frees the buffers and the handle itself, which has no users left. */
static void destroy_handle(starpu_data_handle_t h)
{
	orr_assert_no_lock();
	orr_assert(ORR_ATOMIC_LOAD(&h->npins) == ORR_PINS_LAST);
	if ((h->mpi_ext || h->mpi_rank != -1) && orr_self()->data->mpi_detach)
		orr_self()->data->mpi_detach(h);
	orr_self()->data->up->forget(orr_self(), h);
	orr_prefetch_forget(h);
	orr_transfer_forget(h);
	orr_arbiter_forget(h);
	orr_lock(&h->lock);
	for (struct orr_replicate *r = &h->main; r; r = r->next) {
		if (r->mine && r->allocated)
			orr_memory_release(h, r);
		orr_mapping_end(h, r);
	}
	orr_handle_unlock(h);
	orr_handle_free(h);
}

/* The part of a datum that an access for writing ends: the handle; value and buffers; the value.
 * The arg of an acquisition says it: there may be one for each message of a run. */
enum { DESTROY, DROP, FORGET };

/* ---- the last moments ---- */

static void background_over(struct orr_process *proc)
{
	orr_assert(ORR_ATOMIC_LOAD(&proc->data->nbackground) > 0);
	if (ORR_ATOMIC_ADD(&proc->data->nbackground, -1) == 0)
		orr_waitq_wake(&proc->done);
}

static void destroy(starpu_data_handle_t h)
{
	struct orr_process *proc = orr_self();

	destroy_handle(h);
	background_over(proc);
}

static void at_home(void *arg)
{
	starpu_data_handle_t h = arg;

	orr_fetch_unref(h, (unsigned) h->home_node);
	destroy(h);
}

static void no_way_home(starpu_data_handle_t h)
{
	orr_fatal("the value of %s cannot be brought back to its home node", orr_handle_name(h));
}

void orr_handle_last_unpin(starpu_data_handle_t h)
{
	orr_assert_no_lock();
	orr_assert(ORR_ATOMIC_LOAD(&h->npins) == ORR_PINS_LAST);
	if (!h->bring_home || h->home_node < 0 || !orr_handle_has_value(h)) {
		destroy(h);
		return;
	}
	int ret = orr_fetch(h, (unsigned) h->home_node, STARPU_R, 0, at_home, h);
	if (ret < 0)
		no_way_home(h);
	if (ret == 0)
		at_home(h);
}

void orr_handle_end(starpu_data_handle_t h)
{
	orr_assert(!(ORR_ATOMIC_LOAD(&h->npins) & ORR_PINS_LAST)); /* it ends once */
	ORR_ATOMIC_ADD(&orr_self()->data->nbackground, 1);
	if (ORR_ATOMIC_ADD(&h->npins, ORR_PINS_LAST) == ORR_PINS_LAST)
		orr_handle_last_unpin(h);
}

/* ---- pins ---- */

void orr_handle_wait_pins(starpu_data_handle_t h)
{
	struct orr_process *proc = orr_self();

	orr_assert_no_lock();
	if (ORR_ATOMIC_LOAD(&h->npins))
		orr_about_to_wait(proc);
	ORR_PARK_UNTIL(proc, "the end of a datum", ORR_ATOMIC_LOAD(&h->npins) == 0);
}

/* [waits] Until nothing pins h, and makes further pins impossible. */
static void end_pins(starpu_data_handle_t h)
{
	uint32_t none;

	do {
		orr_handle_wait_pins(h);
		none = 0;
	} while (!ORR_ATOMIC_CAS(&h->npins, &none, ORR_PINS_LAST));
}

/* ---- closing ---- */

/* The access holds the datum: drops its contents. */
static void drop_now(struct orr_acquire *a, int buffers)
{
	starpu_data_handle_t h = a->access.handle;

	orr_assert(a->access.locked && (a->access.mode & STARPU_W));
	orr_lock(&h->lock);
	orr_handle_drop_contents(h, buffers);
	orr_handle_unlock(h);
	orr_acquire_release(a);
}

static void closing_submit(struct orr_acquire *a)
{
	starpu_data_handle_t h = a->access.handle;
	struct orr_process *proc = orr_self();
	int what = (int) (intptr_t) a->arg;

	if (what == DESTROY) {
		orr_acquire_release(a);
		orr_handle_end(h);
		background_over(proc);
	} else {
		drop_now(a, what == DROP);
	}
	free(a);
}

static void close_submit(starpu_data_handle_t h, int what, enum starpu_data_access_mode mode)
{
	struct orr_process *proc = orr_self();
	struct orr_acquire *a = calloc(1, sizeof(*a));

	if (!a)
		orr_fatal("out of memory while closing %s", orr_handle_name(h));
	a->arg = (void *) (intptr_t) what;
	if (what == DESTROY)
		ORR_ATOMIC_ADD(&proc->data->nbackground,
			       1); /* it may wait for an acquisition whose data are on their way */
	if (orr_acquire_start(a, h, -1, mode, 1, 0, closing_submit) == 0)
		return;
	if (what == DESTROY)
		background_over(proc);
	free(a);
}

/* ---- unregistration ---- */

static void check_unregister(starpu_data_handle_t h)
{
	if (orr_partition_check_unregister(h) || orr_acquire_check_unregister(h))
		orr_fatal("%s cannot be unregistered", orr_handle_name(h));
	/* Ordered whatever the handle's flag: it must come after everything that was submitted. */
	ORR_ATOMIC_STORE(&h->sequential, 1);
}

static void unregister(starpu_data_handle_t h, int coherency)
{
	struct orr_acquire a = { .may_fail = 0 };

	if (orr_handle_check(h, "unregistration"))
		orr_fatal("unregistration cannot go on");
	if (orr_dup_unregister(h))
		return;
	if (orr_acquire_check_wait(h, "unregistration"))
		orr_fatal("%s cannot be unregistered", orr_handle_name(h));
	check_unregister(h);
	if (orr_acquire_wait(&a, h, -1, STARPU_RW))
		orr_fatal("%s cannot be unregistered", orr_handle_name(h));
	orr_acquire_release(&a);
	end_pins(h);
	h->bring_home = coherency != 0;
	if (coherency && h->home_node >= 0 && orr_handle_has_value(h) &&
	    orr_fetch_wait(h, (unsigned) h->home_node, STARPU_R, 0) < 0)
		no_way_home(h);
	destroy_handle(h);
}

void starpu_data_unregister(starpu_data_handle_t handle)
{
	unregister(handle, 1);
}
void starpu_data_unregister_no_coherency(starpu_data_handle_t handle)
{
	unregister(handle, 0);
}

void starpu_data_unregister_submit(starpu_data_handle_t handle)
{
	if (orr_handle_check(handle, __func__))
		orr_fatal("unregistration cannot go on");
	if (orr_dup_unregister(handle))
		return;
	check_unregister(handle);
	handle->bring_home = 1;
	ORR_ATOMIC_STORE_RELAXED(&handle->alive, ORR_HANDLE_LEAVING);
	close_submit(handle, DESTROY, STARPU_RW);
}

/* ---- invalidation ---- */

static void drop_submit(starpu_data_handle_t h, int what, const char *caller)
{
	if (orr_handle_check(h, caller) == 0)
		close_submit(h, what, STARPU_W);
}

static void drop(starpu_data_handle_t h, int what, const char *caller)
{
	struct orr_acquire a = { .may_fail = 0 };

	if (!orr_handle_check(h, caller) && !orr_acquire_check_wait(h, caller) &&
	    !orr_acquire_wait(&a, h, -1, STARPU_W))
		drop_now(&a, what == DROP);
}

void starpu_data_invalidate_submit(starpu_data_handle_t handle)
{
	drop_submit(handle, DROP, __func__);
}
void starpu_data_deinitialize_submit(starpu_data_handle_t handle)
{
	drop_submit(handle, FORGET, __func__);
}
void starpu_data_invalidate(starpu_data_handle_t handle)
{
	drop(handle, DROP, __func__);
}
void starpu_data_deinitialize(starpu_data_handle_t handle)
{
	drop(handle, FORGET, __func__);
}
