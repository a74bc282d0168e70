/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making room on a memory node: cached buffers first, then copies of data that nobody uses, least
 * recently used first (handbook 27.4).
 *
 * The only valid copy of a datum is written back to main memory, or from there to the disk that
 * main memory overflows to, before its buffer is freed. Invariant: a replicate with references is
 * never a victim, and no value is lost when eviction fails half-way. */
#include "data/disk.h"
#include "data/data.h"
#include "data/memory.h"
#include "data/transfer.h"
#include "data/fetch.h"
#include "data/evict.h"
#include "data/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A valid replicate other than r. Under h->lock. */
static struct orr_replicate *other_valid(starpu_data_handle_t h, struct orr_replicate *r)
{
	orr_assert_locked(&h->lock);
	for (struct orr_replicate *o = &h->main; o; o = o->next)
		if (o != r && o->state != ORR_INVALID && !o->loading)
			return o;
	return NULL;
}

int orr_memory_is_free(const struct orr_replicate *r)
{
	return r->allocated && r->mine && !r->loading && !ORR_ATOMIC_LOAD(&r->refcnt);
}

int orr_memory_is_clean(starpu_data_handle_t h, struct orr_replicate *r)
{
	orr_assert_locked(&h->lock);
	if (r->state == ORR_INVALID)
		return 1;
	for (struct orr_replicate *o = &h->main; o; o = o->next)
		if (o != r && (o->state != ORR_INVALID || o->loading))
			return 1;
	return 0;
}

static int is_disk(const struct orr_process *proc, unsigned memnode)
{
	return proc->data->memnodes[memnode]->kind == STARPU_DISK_RAM;
}

/* Bytes in use, but for buffers that are kept for reuse: as of some moment, without the memory's
 * lock, because the caller may hold another's. */
static size_t in_use(const struct orr_memnode *m)
{
	size_t used = ORR_ATOMIC_LOAD_RELAXED(&m->used),
	       cached = ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes);

	return used > cached ? used - cached : 0;
}

/* The disk that data overflow to: STARPU_DISK_SWAP's unless it is full, else the first registered
 * one that is not. -1: there is none. */
static int overflow_disk(struct orr_process *proc, size_t size)
{
	unsigned n = ORR_ATOMIC_LOAD(&proc->data->nmemnodes);
	int any = proc->data->swap_node;

	for (unsigned i = 0; i <= n; i++) {
		unsigned at = i == 0 ? (unsigned) proc->data->swap_node : i - 1;
		struct orr_memnode *m;

		if (at >= n || !is_disk(proc, at))
			continue;
		m = proc->data->memnodes[at];
		if (any < 0)
			any = (int) at;
		if (!orr_disk_is_full(proc, at) && (!m->total || in_use(m) + size <= m->total))
			return (int) at;
	}
	return any;
}

int orr_memory_writeback_node(struct orr_process *proc, starpu_data_handle_t h, unsigned memnode)
{
	if (memnode != STARPU_MAIN_RAM)
		return STARPU_MAIN_RAM;
	if (h->ext && h->ext->ooc_off)
		return -1;
	if (h->home_node > 0 && is_disk(proc, (unsigned) h->home_node))
		return h->home_node;
	return overflow_disk(proc, starpu_data_get_alloc_size(h));
}

/* Gives t a buffer while r, the source, is kept by a reference. Under h->lock, which may be dropped
 * meanwhile. */
static enum orr_room target_buffer(struct orr_process *proc, starpu_data_handle_t h,
				   struct orr_replicate *r, struct orr_replicate *t,
				   enum orr_copy_why why)
{
	size_t size = starpu_data_get_alloc_size(h);
	enum orr_room room = ORR_ROOM_MADE;
	/* Only copies on a disk have no better place to go to, and a write-back ahead of need must
	 * not cause another one. */
	enum orr_effort effort = is_disk(proc, t->memnode) || why == ORR_COPY_WRITE_BACK
					 ? ORR_EFFORT_CLEAN
					 : ORR_EFFORT_WRITEBACK;

	orr_assert_locked(&h->lock);
	orr_assert(r->allocated && r != t);
	ORR_ATOMIC_ADD(&r->refcnt, 1);
	ORR_ATOMIC_ADD(&t->refcnt, 1);
	while (room == ORR_ROOM_MADE && !t->allocated && orr_memory_allocate(h, t)) {
		orr_handle_unlock(h);
		room = orr_memory_make_room(proc, t->memnode, size, effort);
		orr_lock(&h->lock);
	}
	orr_assert(ORR_ATOMIC_LOAD(&t->refcnt) > 0 && ORR_ATOMIC_LOAD(&r->refcnt) > 0);
	ORR_ATOMIC_ADD(&t->refcnt, -1);
	ORR_ATOMIC_ADD(&r->refcnt, -1);
	return t->allocated ? ORR_ROOM_MADE : room;
}

/* A disk did not take the datum: frees the room that was reserved there for it. Under h->lock. */
static enum orr_room refused(struct orr_process *proc, starpu_data_handle_t h,
			     struct orr_replicate *t)
{
	orr_assert_locked(&h->lock);
	if (!is_disk(proc, t->memnode))
		return ORR_ROOM_NONE;
	if (t->state == ORR_INVALID && orr_memory_is_free(t))
		orr_memory_release(h, t);
	return ORR_ROOM_NOWHERE;
}

enum orr_room orr_memory_write_back(struct orr_process *proc, starpu_data_handle_t h,
				    struct orr_replicate *r, enum orr_copy_why why,
				    struct orr_fetch **waiters)
{
	int to = orr_memory_writeback_node(proc, h, r->memnode);
	struct orr_replicate *t = to >= 0 ? orr_handle_replicate(h, (unsigned) to) : NULL;

	orr_assert_locked(&h->lock);
	if (!t || orr_transfer_loading(h))
		return ORR_ROOM_NONE;
	orr_transfer_shape(h, r, t);
	enum orr_room room = target_buffer(proc, h, r, t, why);
	if (room != ORR_ROOM_MADE && why == ORR_COPY_WRITE_BACK)
		return ORR_ROOM_NONE;
	if (room == ORR_ROOM_NONE && is_disk(proc, t->memnode)) {
		orr_disk_tell_full(proc, t->memnode, starpu_data_get_alloc_size(h));
		return ORR_ROOM_NOWHERE;
	}
	if (room != ORR_ROOM_MADE)
		return room;
	/* The lock may have been dropped: check again. */
	if (!orr_memory_is_free(r) || r->state == ORR_INVALID || orr_transfer_loading(h))
		return ORR_ROOM_NONE;
	if (other_valid(h, r))
		return ORR_ROOM_MADE;
	int ret = orr_transfer(proc, h, r, t, why, waiters);
	return ret < 0 ? refused(proc, h, t) : ret ? ORR_ROOM_LATER : ORR_ROOM_MADE;
}

enum orr_room orr_memory_evict_replicate(struct orr_process *proc, starpu_data_handle_t h,
					 struct orr_replicate *r, enum orr_effort effort)
{
	struct orr_fetch *waiters = NULL;
	enum orr_room room = ORR_ROOM_NONE;
	int pinned = 0;

	orr_assert_locked(&h->lock);
	if (orr_memory_is_free(r)) {
		if (r->state != ORR_INVALID && !other_valid(h, r) && effort >= ORR_EFFORT_WRITEBACK)
			pinned = orr_handle_try_pin(h);
		if (r->state != ORR_INVALID && !other_valid(h, r))
			room = pinned ? orr_memory_write_back(proc, h, r, ORR_COPY_EVICTION,
							      &waiters)
				      : ORR_ROOM_NONE;
		else
			room = ORR_ROOM_MADE;
		if (room == ORR_ROOM_MADE && orr_memory_is_free(r) &&
		    (r->state == ORR_INVALID || other_valid(h, r))) {
			ORR_ATOMIC_STORE(&r->state, ORR_INVALID);
			orr_memory_release(h, r);
			ORR_ATOMIC_ADD_RELAXED(&proc->data->memnodes[r->memnode]->evictions, 1);
		}
	}
	orr_handle_unlock(h);
	orr_fetch_resume(waiters);
	if (pinned)
		orr_handle_unpin(h);
	return room;
}

/* ---- victims ---- */

/* The next replicate to try. *locked: its handle is. Otherwise somebody else has that lock, and the
 * handle is pinned instead. */
static struct orr_repl_ext *pick(struct orr_memnode *m, unsigned stamp, int *locked)
{
	struct orr_repl_ext *busy = NULL;

	orr_assert_locked(&m->lock);
	for (struct orr_repl_ext *e = m->lru_head; e; e = e->lru_next) {
		/* Later searches count too, or two of them would never end. */
		if ((int) (e->stamp - stamp) >= 0 || ORR_ATOMIC_LOAD(&e->self->refcnt))
			continue;
		if (!orr_trylock(&e->handle->lock)) {
			if (!busy)
				busy = e;
			continue;
		}
		orr_assert(e->self->in_lru && e->self->mine && e->self->allocated);
		e->stamp = stamp;
		*locked = 1;
		return e;
	}
	*locked = 0;
	for (; busy; busy = busy->lru_next) {
		if ((int) (busy->stamp - stamp) >= 0 || ORR_ATOMIC_LOAD(&busy->self->refcnt))
			continue;
		busy->stamp = stamp;
		/* A handle that is ending gives its buffers back by itself. */
		if (orr_handle_try_pin(busy->handle))
			return busy;
	}
	return NULL;
}

/* Evicts what pick found. */
static enum orr_room evict_picked(struct orr_process *proc, struct orr_repl_ext *e, int locked,
				  enum orr_effort effort)
{
	starpu_data_handle_t h = e->handle;

	/* Locks are held for a short time only, and nobody tells when this one is free. */
	if (!locked)
		orr_lock(&h->lock);
	enum orr_room room = orr_memory_evict_replicate(proc, h, e->self, effort);
	if (!locked)
		orr_handle_unpin(h);
	return room;
}

/* Buffers of evicted data go to the allocation cache and count as free. A caller that cannot reuse
 * one of them tries again, and the cache is emptied first then. */
static int fits(const struct orr_memnode *m, size_t wanted, size_t freed)
{
	orr_assert_locked(&m->lock);
	return m->total ? m->used + wanted <= m->total + ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes)
			: freed >= wanted;
}

/* The same when the write-backs that are under way have ended, too. */
static int fits_soon(const struct orr_memnode *m, size_t wanted)
{
	orr_assert_locked(&m->lock);
	return m->total && m->used + wanted <= m->total + m->evicting +
						       ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes);
}

static enum orr_room search(struct orr_process *proc, unsigned memnode, size_t wanted,
			    enum orr_effort effort)
{
	struct orr_memnode *m = proc->data->memnodes[memnode];
	int later = 0;

	orr_assert_no_lock();
	if (m->total && wanted > m->total)
		return ORR_ROOM_NONE;
	size_t freed = orr_memory_flush_cache(proc, memnode, wanted ? wanted : 1);
	if (effort == ORR_EFFORT_NONE)
		return freed ? ORR_ROOM_MADE : ORR_ROOM_NONE;
	orr_lock(&m->lock);
	unsigned stamp = ++m->lru_stamp;
	for (;;) {
		struct orr_repl_ext *e = NULL;
		enum orr_room room;
		size_t bytes = 0;
		int locked;

		/* If nothing was freed, the caller's allocation failed although it seems to fit:
		 * free something all the same. */
		if (freed && fits(m, wanted, freed))
			break;
		if (m->evicting && fits_soon(m, wanted)) {
			later = 1;
			break;
		}
		/* All write-backs that began here have ended meanwhile. */
		if (later && fits(m, wanted, freed)) {
			later = 0;
			freed = 1;
			break;
		}
		e = pick(m, stamp, &locked);
		if (e)
			bytes = e->bytes ? e->bytes : 1;
		orr_unlock(&m->lock);
		if (!e)
			return freed ? ORR_ROOM_MADE : later ? ORR_ROOM_LATER : ORR_ROOM_NONE;
		room = evict_picked(proc, e, locked, effort);
		freed += room == ORR_ROOM_MADE ? bytes : 0;
		later |= room == ORR_ROOM_LATER;
		if (room == ORR_ROOM_NOWHERE)
			effort = ORR_EFFORT_CLEAN;
		orr_lock(&m->lock);
	}
	orr_unlock(&m->lock);
	return freed && !later ? ORR_ROOM_MADE : later ? ORR_ROOM_LATER : ORR_ROOM_NONE;
}

enum orr_room orr_memory_make_room(struct orr_process *proc, unsigned memnode, size_t wanted,
				   enum orr_effort effort)
{
	struct orr_search s;
	enum orr_room room;

	orr_search_begin(proc, &s);
	do
		room = search(proc, memnode, wanted, effort);
	while (orr_search_end(proc, &s, room == ORR_ROOM_NONE));
	return room;
}

enum orr_room orr_memory_evict(struct orr_process *proc, unsigned memnode, size_t wanted)
{
	if (orr_thread_self()->under_datum || !orr_memory_managed(proc, memnode))
		return ORR_ROOM_NONE;
	return orr_memory_make_room(proc, memnode, wanted, ORR_EFFORT_WRITEBACK);
}

/* Something is under way that frees memory when it ends. */
static int under_way(struct orr_process *proc, const struct orr_memnode *m)
{
	return ORR_ATOMIC_LOAD(&proc->data->nbusy) || ORR_ATOMIC_LOAD(&proc->data->ncopying) ||
	       ORR_ATOMIC_LOAD(&m->nchanging) || orr_search_in_progress(proc);
}

int orr_memory_hopeless(struct orr_process *proc, unsigned memnode, int ignore_held)
{
	struct orr_memnode *m = proc->data->memnodes[memnode];
	int used = 0;

	if (under_way(proc, m))
		return 0;
	orr_lock(&m->lock);
	for (struct orr_repl_ext *e = m->lru_head; e && !used; e = e->lru_next)
		used = (!ignore_held && ORR_ATOMIC_LOAD(&e->self->refcnt) != 0) ||
		       ORR_ATOMIC_LOAD_RELAXED(&e->handle->alive) == ORR_HANDLE_LEAVING;
	orr_unlock(&m->lock);
	/* A buffer may have left the list since the first look. */
	return !used && !under_way(proc, m);
}

/* ---- the program's and the policies' wishes ---- */

int starpu_data_can_evict(starpu_data_handle_t handle, unsigned node,
			  enum starpu_is_prefetch is_prefetch)
{
	if (orr_handle_known(handle, __func__) ||
	    orr_handle_check_node(handle, (int) node, __func__))
		return 0;
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, node);
	int yes = r && orr_memory_is_free(r) &&
		  !(handle->ext && handle->ext->can_evict_off && is_prefetch != STARPU_FETCH);
	/* Its only copy must have somewhere to go; speculative transfers are not worth a
	 * write-back. */
	if (yes && r->state != ORR_INVALID && !other_valid(handle, r))
		yes = is_prefetch < STARPU_IDLEFETCH &&
		      orr_memory_writeback_node(orr_self(), handle, node) >= 0;
	orr_handle_unlock(handle);
	return yes;
}

int starpu_data_evict_from_node(starpu_data_handle_t handle, unsigned node)
{
	struct orr_process *self = orr_self();
	struct orr_replicate *r;
	enum orr_room room;

	if (orr_handle_check(handle, __func__) ||
	    orr_handle_check_node(handle, (int) node, __func__))
		return -EINVAL;
	if (!orr_memory_managed(self, node))
		return starpu_data_test_if_allocated_on_node(handle, node) ? -EBUSY : 0;
	for (;;) {
		unsigned key = orr_waitq_prepare(&self->done);

		orr_lock(&handle->lock);
		r = orr_handle_find(handle, node);
		if (!r || !r->allocated) {
			orr_handle_unlock(handle);
			orr_waitq_cancel(&self->done);
			return 0;
		}
		if (r->loading ||
		    (orr_transfer_loading(handle) && !orr_thread_self()->task && self->ngroups)) {
			/* A write-back takes its time. */
			orr_handle_unlock(handle);
			if (orr_thread_self()->task) {
				orr_waitq_cancel(&self->done);
				return -EAGAIN;
			}
			orr_waitq_wait(&self->done, key, 100);
			continue;
		}
		orr_waitq_cancel(&self->done);
		struct orr_search s;
		orr_search_begin(self, &s);
		room = orr_memory_evict_replicate(self, handle, r, ORR_EFFORT_WRITEBACK);
		orr_search_end(self, &s, 0);
		if (room == ORR_ROOM_NONE || room == ORR_ROOM_NOWHERE)
			return room == ORR_ROOM_NONE ? -EBUSY : -ENOSPC;
		if (room == ORR_ROOM_LATER && (orr_thread_self()->task || !self->ngroups))
			return 0;
	}
}
