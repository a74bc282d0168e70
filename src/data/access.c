/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The access queues of handles: turns, holding, and acquisitions (see access.h for the model;
 * access_owner.c has the accesses of an owner taken together).
 *
 * Locks: every function here locks one handle at a time. Owners that may go on are collected under
 * the lock, and called after it is released. Invariant: an access is parked only while another one
 * holds its datum, or while one that was taken off the parked ones has not yet tried. (The second
 * half lasts for no longer than a call of orr_access_resume, so only the first is asserted, when an
 * access is parked.) */
#include "data/access_queue.h"
#include "data/access_trace.h"
#include "data/memory.h"
#include "data/fetch.h"
#include "data/filters_views.h"
#include "data/transfer.h"
#include "base/park.h"
#include "base/log.h"
#include "base/upcalls.h"
#include "data/write_through.h"
#include "data/access.h"
#include "data/handle_attributes.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *orr_mode_name(unsigned mode, char name[ORR_MODE_NAME])
{
	static const char *const bits[] = { "R",       "W",     "SCRATCH",    "REDUX",
					    "COMMUTE", "SSEND", "LOCALITY",   "MPI_REDUX",
					    "NOPLAN",  "UNMAP", "NOFOOTPRINT" };
	enum { NBITS = sizeof(bits) / sizeof(*bits) };
	int n = 0;

	if ((mode & STARPU_RW) == STARPU_RW) {
		n = snprintf(name, ORR_MODE_NAME, "STARPU_%s", "RW");
		mode &= ~(unsigned) STARPU_RW;
	}
	for (unsigned i = 0; i < NBITS; i++)
		if (mode >> i & 1)
			n += snprintf(name + n, (size_t) (ORR_MODE_NAME - n), "%sSTARPU_%s",
				      n ? "|" : "", bits[i]);
	if (mode >> NBITS)
		snprintf(name + n, (size_t) (ORR_MODE_NAME - n), "%s0x%x", n ? "|" : "",
			 mode >> NBITS << NBITS);
	else if (!n)
		snprintf(name, ORR_MODE_NAME, "STARPU_%s", "NONE");
	return name;
}

/* ---- phase one: turns ---- */

/* May an access of this class join those that have their turn? Under h->lock. */
static int joins(starpu_data_handle_t h, enum orr_class c)
{
	orr_assert_locked(&h->lock);
	return (!h->ngranted || (c == h->gclass && c != ORR_CLASS_WRITE)) &&
	       !orr_redux_blocks(h, c);
}

static void grant(starpu_data_handle_t h, struct orr_access *a, enum orr_class c)
{
	orr_assert_locked(&h->lock);
	orr_assert(!a->granted);
	orr_assert(!h->ngranted || (c == h->gclass && c != ORR_CLASS_WRITE));
	h->ngranted++;
	h->gclass = (uint8_t) c;
	a->granted = 1;
}

int orr_access_enqueue(starpu_data_handle_t h, struct orr_access *a)
{
	enum orr_class c = orr_access_class(a->mode);

	orr_assert_locked(&h->lock);
	orr_assert(a->handle == h && !a->granted && !a->locked && !a->merged);
	orr_assert(!h->head == !h->tail);
	if (!h->head && joins(h, c)) {
		grant(h, a, c);
		return 1;
	}
	a->next = NULL;
	if (h->tail)
		h->tail->next = a;
	else
		ORR_ATOMIC_STORE_RELAXED(&h->head, a);
	h->tail = a;
	return 0;
}

/* ---- phase two: holding ---- */

int orr_access_conflicts(starpu_data_handle_t h, const struct orr_access *a)
{
	orr_assert_locked(&h->lock);
	if (__builtin_expect(a->mode & STARPU_REDUX, 0) && orr_redux_blocks(h, ORR_CLASS_REDUX))
		return 1;
	return h->nheld && ((a->mode & STARPU_W) || h->held_write);
}

void orr_access_hold(starpu_data_handle_t h, struct orr_access *a)
{
	orr_assert_locked(&h->lock);
	orr_assert(!a->locked && !a->merged);
	/* One writer, or any number of readers. */
	orr_assert(!h->nheld || (!h->held_write && !(a->mode & STARPU_W)));
	h->nheld++;
	h->held_write = (a->mode & STARPU_W) != 0;
	a->locked = 1;
}

static void unhold(starpu_data_handle_t h, struct orr_access *a)
{
	orr_assert_locked(&h->lock);
	orr_assert(a->locked && h->nheld > 0);
	h->nheld--;
	/* A writer is alone, apart from readers that inherited from it. */
	if (a->mode & STARPU_W)
		h->held_write = 0;
	a->locked = 0;
}

void orr_access_park(starpu_data_handle_t h, struct orr_access *a)
{
	struct orr_data_ext *ext = orr_handle_ext(h);

	orr_assert_locked(&h->lock);
	/* The holder finds it when it releases the datum. */
	orr_assert(!a->locked && orr_access_conflicts(h, a));
	if (!ext)
		orr_fatal("out of memory while queueing an access to %s", orr_handle_name(h));
	a->next = NULL;
	*(ext->parked ? &ext->parked_last->next : &ext->parked) = a;
	ext->parked_last = a;
}

struct orr_access *orr_access_take_parked(starpu_data_handle_t h)
{
	struct orr_access *taken = NULL, **end = &taken, *a, *before = NULL;

	orr_assert_locked(&h->lock);
	if (!h->ext)
		return NULL;
	for (struct orr_access **link = &h->ext->parked; (a = *link);) {
		int writes = (a->mode & STARPU_W) != 0;

		if (orr_access_conflicts(h, a) || (writes && taken)) {
			before = a;
			link = &a->next;
			continue;
		}
		*link = a->next;
		if (h->ext->parked_last == a)
			h->ext->parked_last = before;
		a->next = NULL;
		*end = a;
		end = &a->next;
		if (writes)
			break;
	}
	return taken;
}

void orr_access_resume(struct orr_access *list)
{
	for (struct orr_access *a; (a = list);) {
		struct orr_access *woken = NULL, **end;

		list = a->next;
		if (orr_access_hold_all(a->owner, &woken))
			a->owner->ops->held(a->owner);
		for (end = &woken; *end; end = &(*end)->next)
			;
		*end = list;
		list = woken;
	}
}

/* ---- both ---- */

/* The turn of an access has just come. If its owner waits for nothing else, and no parked access
 * comes before it, the owner holds the datum at once. */
static void hold_at_once(starpu_data_handle_t h, struct orr_access *a)
{
	struct orr_owner *o = a->owner;

	orr_assert_locked(&h->lock);
	orr_assert(a->granted && !a->locked);
	if ((h->ext && h->ext->parked) || o->naccess != 1 || ORR_ATOMIC_LOAD(&o->ndeps) != 1)
		return;
	if (orr_access_holds(a)) {
		if (orr_access_conflicts(h, a))
			return;
		orr_access_hold(h, a);
	}
	o->held = 1;
}

/* Takes the accesses whose turn has come off the queue, linked by next, in order. Under h->lock. */
static struct orr_access *take_granted(starpu_data_handle_t h)
{
	struct orr_access *first = NULL, **end = &first;

	orr_assert_locked(&h->lock);
	while (h->head) {
		struct orr_access *a = h->head;
		enum orr_class c = orr_access_class(a->mode);

		if (!joins(h, c))
			break;
		ORR_ATOMIC_STORE_RELAXED(&h->head, a->next);
		__builtin_prefetch(h->head); /* seldom in the cache */
		if (!h->head)
			h->tail = NULL;
		grant(h, a, c);
		hold_at_once(h, a);
		a->next = NULL;
		*end = a;
		end = &a->next;
	}
	return first;
}

/* Calls the owners that were collected under a lock, those that waited longest first. */
static void let_go_one_by_one(struct orr_access *granted, struct orr_access *parked)
{
	struct orr_access *next;

	if (__builtin_expect(parked != NULL, 0))
		orr_access_resume(parked);
	for (; granted; granted = next) {
		next = granted->next;
		granted->owner->ops->turn(granted->owner);
	}
}

/* Several readers may be sends of one value, which travel together. */
static void let_go(struct orr_access *granted, struct orr_access *parked)
{
	orr_assert_no_lock();
	if (!(granted && granted->next) && !(parked && parked->next)) {
		let_go_one_by_one(granted, parked);
		return;
	}
	struct orr_thread *self = orr_thread_self();
	self->bursts++;
	let_go_one_by_one(granted, parked);
	if (!--self->bursts && self->burst)
		self->proc->mpi_up->burst_end(self->proc, self);
}

void orr_access_regrant(starpu_data_handle_t h)
{
	orr_lock(&h->lock);
	struct orr_access *parked = orr_access_take_parked(h);
	struct orr_access *granted = take_granted(h);
	orr_handle_unlock(h);
	let_go(granted, parked);
}

void orr_access_end(struct orr_access *a)
{
	starpu_data_handle_t h = a->handle;

	orr_assert(!a->merged);
	if (!a->granted && !a->locked)
		return;
	orr_lock(&h->lock);
	if (a->locked)
		unhold(h, a);
	if (a->granted) {
		orr_access_note_end(h, a);
		orr_assert(h->ngranted > 0);
		a->granted = 0;
		if (--h->ngranted == 0)
			h->gclass = ORR_CLASS_NONE;
	}
	if (!h->head && !h->ext) {
		orr_handle_unlock(h);
		return;
	}
	struct orr_redux *redux = orr_redux_start(h);
	struct orr_access *parked = orr_access_take_parked(h);
	struct orr_access *granted = take_granted(h);
	orr_handle_unlock(h);
	let_go(granted, parked);
	if (redux)
		orr_redux_run(redux);
}

uint64_t orr_access_comes_after(const struct orr_access *a)
{
	starpu_data_handle_t h = a->handle;
	uint32_t last = 0;

	orr_lock(&h->lock);
	/* The two share a byte, which is written when another task's end grants this access. */
	if (a->granted && !a->merged && h->has_users) {
		const struct orr_last_users *users = orr_handle_users(h);

		last = orr_access_class(a->mode) != ORR_CLASS_READ && users->read ? users->read
										  : users->wrote;
	}
	orr_unlock(&h->lock);
	return orr_cause_of_last(last);
}

void orr_access_kick_redux(starpu_data_handle_t h)
{
	orr_lock(&h->lock);
	struct orr_redux *redux = orr_redux_start(h);
	orr_handle_unlock(h);
	if (redux)
		orr_redux_run(redux);
}

/* ---- acquisitions ---- */

static void acquire_granted(struct orr_acquire *a)
{
	if (a->in_turn)
		orr_owner_proceed(&a->owner);
	else
		a->granted(a);
}

static void acquire_done(void *arg)
{
	acquire_granted(arg);
}

static void acquire_failed(void *arg)
{
	struct orr_acquire *a = arg;

	a->access.pinned = 0;
	a->status = -ENOMEM;
	acquire_granted(a);
}

static enum orr_fetched acquire_fetch(struct orr_acquire *a)
{
	struct orr_access *x = &a->access;

	if (orr_fetch_quick(x->handle, (unsigned) x->node, x->mode))
		return ORR_FETCH_READY;
	struct orr_fetch rq = (struct orr_fetch){ .handle = x->handle,
						  .memnode = (uint8_t) x->node,
						  .mode = x->mode,
						  .prio = a->prio,
						  .effort = ORR_EFFORT_WRITEBACK,
						  .done = acquire_done,
						  .failed = a->may_fail ? acquire_failed : NULL,
						  .arg = a };
	enum orr_fetched result = orr_fetch_request(&rq);
	if (result == ORR_FETCH_FAILED && a->may_fail)
		a->status = rq.error;
	return result;
}

/* It holds the datum. Brings it to the node where it is wanted. */
static void acquire_held(struct orr_acquire *a)
{
	orr_assert_no_lock();
	orr_assert(a->access.locked || !orr_access_holds(&a->access));
	if (a->chooses)
		a->access.node = (int8_t) orr_self()->data->choose_node(a);
	if (a->access.node >= 0) {
		enum orr_fetched result;

		a->access.pinned = 1;
		result = acquire_fetch(a);
		if (result == ORR_FETCH_LATER)
			return;
		if (result != ORR_FETCH_READY && !a->may_fail)
			orr_fatal("the datum %s cannot be brought to memory node %d",
				  orr_handle_name(a->access.handle), a->access.node);
		a->access.pinned = result == ORR_FETCH_READY;
	}
	acquire_granted(a);
}

/* Its turn has come, or it needs none. */
static void acquire_turn(struct orr_acquire *a)
{
	starpu_data_handle_t h = a->access.handle;

	orr_assert_no_lock();
	orr_assert(a->access.granted || !a->access.ordered);
	if (!a->access.locked && orr_access_holds(&a->access)) {
		orr_lock(&h->lock);
		int ok = !orr_access_conflicts(h, &a->access);
		if (ok)
			orr_access_hold(h, &a->access);
		else
			orr_access_park(h, &a->access);
		orr_handle_unlock(h);
		if (!ok)
			return;
	}
	acquire_held(a);
}

static void acquirer_turn(struct orr_owner *o)
{
	acquire_turn((struct orr_acquire *) o);
}

static void acquirer_held(struct orr_owner *o)
{
	acquire_held((struct orr_acquire *) o);
}

static void acquirer_proceed(struct orr_owner *o)
{
	struct orr_acquire *a = (struct orr_acquire *) o;

	a->granted(a);
}

static const char *acquirer_name(const struct orr_owner *o)
{
	(void) o;
	return "an acquisition";
}

static const struct orr_owner_ops acquirer_ops = {
	.turn = acquirer_turn,
	.held = acquirer_held,
	.proceed = acquirer_proceed,
	.name = acquirer_name,
};

static void acquire_prepare(struct orr_acquire *a, starpu_data_handle_t h, int node, unsigned mode,
			    int ordered, int prio, void (*granted)(struct orr_acquire *))
{
	memset(&a->access, 0, sizeof(a->access));
	a->owner = (struct orr_owner){
		.ops = &acquirer_ops, .access = &a->access, .naccess = 1, .ndeps = 1
	};
	a->access.handle = h;
	a->access.owner = &a->owner;
	a->access.mode = (uint16_t) mode;
	a->access.node = (int8_t) node;
	a->access.ordered = ordered & 1;
	a->prio = prio;
	a->status = 0;
	a->pins = 0;
	a->granted = granted;
}

int orr_acquire_start(struct orr_acquire *a, starpu_data_handle_t h, int node,
		      enum starpu_data_access_mode mode, int ordered, int prio,
		      void (*granted)(struct orr_acquire *))
{
	int redux;

	if (ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition) &&
	    orr_handle_check_partition(h, mode, NULL))
		return -EINVAL;
	ordered = ordered && ORR_ATOMIC_LOAD_RELAXED(&h->sequential) && !orr_access_is_free(mode);
	acquire_prepare(a, h, node, mode, ordered, prio, granted);
	if (!ordered) {
		orr_handle_pin(h);
		a->pins = 1;
		acquire_turn(a);
		return 0;
	}
	orr_lock(&h->lock);
	int now = orr_access_enqueue(h, &a->access);
	if (now)
		hold_at_once(h, &a->access);
	redux = h->ext && h->ext->redux;
	orr_handle_unlock(h);
	if (now)
		acquire_turn(a);
	else if (redux)
		orr_access_kick_redux(h);
	return 0;
}

static void granted_wait(struct orr_acquire *a)
{
	struct orr_process *proc = orr_self();

	/* From here on `a` belongs to the waiting thread. */
	ORR_ATOMIC_STORE((int *) a->arg, 1);
	orr_waitq_wake(&proc->done);
}

int orr_acquire_wait(struct orr_acquire *a, starpu_data_handle_t h, int node,
		     enum starpu_data_access_mode mode)
{
	struct orr_process *self = orr_self();
	int done = 0;

	orr_assert_no_lock();
	orr_sys_settle(orr_thread_self());
	a->arg = &done;
	int ret = orr_acquire_start(a, h, node, mode, 1, 0, granted_wait);
	if (ret)
		return ret;
	if (!ORR_ATOMIC_LOAD(&done))
		orr_about_to_wait(self);
	double since_us = orr_trace_wait_begin(self);

	ORR_PARK_UNTIL(self, "the acquisition of a datum", ORR_ATOMIC_LOAD(&done));
	if (since_us >= 0 && self->trace)
		orr_trace_waited(self, since_us, "the acquisition of a datum",
				 orr_access_comes_after(&a->access));
	return 0;
}

/* Returns true if the datum, which is held, may take time to become usable on a node. Tasks must
 * not wait for that. */
static int takes_time(starpu_data_handle_t h, unsigned node, unsigned mode)
{
	orr_lock(&h->lock);
	struct orr_replicate *r = orr_handle_replicate(h, node);
	int yes = !r || orr_transfer_loading(h) || ((mode & STARPU_R) && r->state == ORR_INVALID) ||
		  (!r->allocated && orr_memory_allocate(h, r));
	orr_handle_unlock(h);
	return yes;
}

int orr_acquire_try(struct orr_acquire *a, starpu_data_handle_t h, int node,
		    enum starpu_data_access_mode mode)
{
	enum orr_class c = orr_access_class(mode);
	int ret = -EAGAIN;

	if (!orr_handle_try_pin(h))
		return -EAGAIN;
	acquire_prepare(a, h, node, mode, ORR_ATOMIC_LOAD_RELAXED(&h->sequential), 0, NULL);
	a->pins = 1;
	orr_lock(&h->lock);
	int ok = !h->head &&
		 (!h->ngranted || (c == ORR_CLASS_READ && h->gclass == ORR_CLASS_READ)) &&
		 !orr_redux_blocks(h, c) && !orr_access_conflicts(h, &a->access);
	if (ok) {
		orr_access_hold(h, &a->access);
		if (a->access.ordered)
			grant(h, &a->access, c == ORR_CLASS_COMMUTE ? ORR_CLASS_WRITE : c);
	}
	orr_handle_unlock(h);
	if (ok && node < 0)
		return 0;
	if (ok && !(orr_thread_self()->task && takes_time(h, (unsigned) node, mode))) {
		a->access.pinned = 1;
		ret = orr_fetch_wait(h, (unsigned) node, mode, 0);
		if (ret >= 0)
			return ret;
		a->access.pinned = 0;
	}
	orr_acquire_release(a);
	return ret;
}

void orr_acquire_inherit(struct orr_acquire *a, starpu_data_handle_t h)
{
	acquire_prepare(a, h, -1, STARPU_R, 0, 0, NULL);
	orr_handle_pin(h);
	a->pins = 1;
	orr_lock(&h->lock);
	orr_assert(h->nheld > 0); /* the caller */
	h->nheld++;
	a->access.locked = 1;
	orr_handle_unlock(h);
}

void orr_acquire_share(struct orr_acquire *a, const struct orr_acquire *from)
{
	starpu_data_handle_t h = from->access.handle;

	orr_assert(from->access.pinned && from->access.node == STARPU_MAIN_RAM);
	orr_acquire_inherit(a, h);
	ORR_ATOMIC_ADD_RELAXED(&h->main.refcnt, 1);
	a->access.node = STARPU_MAIN_RAM;
	a->access.pinned = 1;
}

void orr_acquire_release(struct orr_acquire *a)
{
	starpu_data_handle_t h = a->access.handle;
	int pins = a->pins;

	orr_assert(!a->access.pinned || a->access.node >= 0);
	if (a->access.pinned) {
		a->access.pinned = 0;
		orr_wrote(h, (unsigned) a->access.node, a->access.mode);
		orr_fetch_unref(h, (unsigned) a->access.node);
	}
	orr_access_end(&a->access);
	if (pins)
		orr_handle_unpin(h);
}

void orr_acquire_downgrade(struct orr_acquire *a, enum starpu_data_access_mode down_to)
{
	starpu_data_handle_t h = a->access.handle;

	if (!(down_to & STARPU_RW)) {
		orr_acquire_release(a);
		return;
	}
	if (!(a->access.mode & STARPU_W) || (down_to & STARPU_W))
		return;
	if (a->access.pinned && ORR_ATOMIC_LOAD(&h->ext) &&
	    ORR_ATOMIC_LOAD_RELAXED(&h->ext->wt_mask))
		orr_write_through(h, (unsigned) a->access.node);
	orr_lock(&h->lock);
	orr_assert(a->access.locked && h->nheld > 0);
	a->access.mode = (uint16_t) (STARPU_R | (a->access.mode & ~(STARPU_RW | STARPU_COMMUTE)));
	/* Readers may join, but not a group of commuting writers before the others of it are over.
	 */
	if (a->access.granted && h->ngranted == 1)
		h->gclass = ORR_CLASS_READ;
	h->held_write = 0;
	struct orr_access *parked = orr_access_take_parked(h);
	struct orr_access *granted = take_granted(h);
	orr_handle_unlock(h);
	let_go(granted, parked);
}
