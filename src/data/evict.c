/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making room on a memory node: cached buffers first, then copies of data that nobody uses, least recently used first (handbook 27.4).
 *
 * The only valid copy of a datum is written back to main memory, or from there to the disk that main memory overflows to, before its
 * buffer is freed. Invariant: a replicate with references is never a victim, and no value is lost when eviction fails half-way. */
#include "data/iface.h"
#include "data/memory.h"
#include "data/transfer.h"
#include "core/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A valid replicate other than r. Under h->lock. */
static struct orr_replicate *other_valid(starpu_data_handle_t h, struct orr_replicate *r)
{
	struct orr_replicate *o;

	for (o = &h->main; o; o = o->next)
		if (o != r && o->state != ORR_INVALID && !o->loading)
			return o;
	return NULL;
}

static int is_free(const struct orr_replicate *r)
{
	return r->allocated && r->mine && !r->loading && !ORR_ATOMIC_LOAD(&r->refcnt);
}

/* Where the only copy goes: main memory, or from there a disk; -1 when nowhere. */
static int writeback_node(struct orr_node *node, starpu_data_handle_t h, unsigned memnode)
{
	if (memnode != STARPU_MAIN_RAM)
		return STARPU_MAIN_RAM;
	if (h->ext && h->ext->ooc_off)
		return -1;
	if (h->home_node > 0 && node->memnodes[h->home_node].kind == STARPU_DISK_RAM)
		return h->home_node;
	return node->swap_node;
}

/* Gives t a buffer while r, the source, is kept by a reference. Under h->lock, which may be dropped meanwhile. */
static enum orr_room target_buffer(struct orr_node *node, starpu_data_handle_t h, struct orr_replicate *r, struct orr_replicate *t)
{
	size_t size = starpu_data_get_alloc_size(h);
	enum orr_room room = ORR_ROOM_MADE;

	ORR_ATOMIC_ADD(&r->refcnt, 1);
	ORR_ATOMIC_ADD(&t->refcnt, 1);
	while (room == ORR_ROOM_MADE && !t->allocated && orr_memory_allocate(h, t)) {
		orr_unlock(&h->lock);
		room = orr_memory_make_room(node, t->memnode, size, ORR_EFFORT_WRITEBACK);
		orr_lock(&h->lock);
	}
	ORR_ATOMIC_ADD(&t->refcnt, -1);
	ORR_ATOMIC_ADD(&r->refcnt, -1);
	return t->allocated ? ORR_ROOM_MADE : room;
}

/* Writes the only copy back and frees it. Under h->lock. */
static enum orr_room write_back(struct orr_node *node, starpu_data_handle_t h, struct orr_replicate *r, struct orr_fetch **waiters)
{
	int to = writeback_node(node, h, r->memnode), ret;
	struct orr_replicate *t = to >= 0 ? orr_handle_replicate(h, (unsigned) to) : NULL;
	enum orr_room room;

	if (!t || orr_transfer_loading(h))
		return ORR_ROOM_NONE;
	room = target_buffer(node, h, r, t);
	if (room != ORR_ROOM_MADE)
		return room;
	/* The lock may have been dropped: is it still so? */
	if (!is_free(r) || r->state == ORR_INVALID || orr_transfer_loading(h))
		return ORR_ROOM_NONE;
	if (other_valid(h, r))
		return ORR_ROOM_MADE;
	ret = orr_transfer(node, h, r, t, 1, waiters);
	return ret < 0 ? ORR_ROOM_NONE : ret ? ORR_ROOM_LATER : ORR_ROOM_MADE;
}

enum orr_room orr_memory_evict_replicate(struct orr_node *node, starpu_data_handle_t h, struct orr_replicate *r, enum orr_effort effort)
{
	struct orr_fetch *waiters = NULL;
	enum orr_room room = ORR_ROOM_NONE;

	if (is_free(r)) {
		if (r->state != ORR_INVALID && !other_valid(h, r))
			room = effort >= ORR_EFFORT_WRITEBACK ? write_back(node, h, r, &waiters) : ORR_ROOM_NONE;
		else
			room = ORR_ROOM_MADE;
		if (room == ORR_ROOM_MADE && is_free(r) && (r->state == ORR_INVALID || other_valid(h, r))) {
			ORR_ATOMIC_STORE(&r->state, ORR_INVALID);
			orr_memory_release(h, r);
			ORR_ATOMIC_ADD_RELAXED(&node->memnodes[r->memnode].evictions, 1);
		}
	}
	orr_unlock(&h->lock);
	orr_fetch_resume(waiters);
	return room;
}

/* ---- victims ---- */

/* The next replicate to try, with its handle locked; *busy is set when one was passed over only because its handle is locked. */
static struct orr_repl_ext *pick(struct orr_memnode *m, unsigned stamp, int *busy)
{
	struct orr_repl_ext *e;

	for (e = m->lru_head; e; e = e->lru_next) {
		if (e->stamp == stamp || ORR_ATOMIC_LOAD(&e->self->refcnt))
			continue;
		if (!orr_trylock(&e->handle->lock)) {
			*busy = 1;
			continue;
		}
		e->stamp = stamp;
		return e;
	}
	return NULL;
}

/* Cached buffers are only emptied here; then one victim at a time. */
static int fits(const struct orr_memnode *m, size_t wanted, size_t freed)
{
	return m->total ? m->used + wanted <= m->total : freed >= wanted;
}

enum orr_room orr_memory_make_room(struct orr_node *node, unsigned memnode, size_t wanted, enum orr_effort effort)
{
	struct orr_memnode *m = &node->memnodes[memnode];
	size_t freed;
	unsigned stamp, tries = 0;
	int later = 0;

	if (m->total && wanted > m->total)
		return ORR_ROOM_NONE;
	freed = orr_memory_flush_cache(node, memnode, wanted ? wanted : 1);
	if (effort == ORR_EFFORT_NONE)
		return freed ? ORR_ROOM_MADE : ORR_ROOM_NONE;
	orr_lock(&m->lock);
	stamp = ++m->lru_stamp;
	for (;;) {
		struct orr_repl_ext *e = NULL;
		enum orr_room room;
		size_t bytes = 0;
		int busy = 0;

		/* Without anything freed the caller's allocation failed although it seems to fit: free something all the same. */
		if (freed && fits(m, wanted, freed))
			break;
		if (m->evicting && m->total && m->used + wanted <= m->total + m->evicting) {
			later = 1;
			break;
		}
		e = pick(m, stamp, &busy);
		if (e)
			bytes = e->bytes ? e->bytes : 1;
		orr_unlock(&m->lock);
		if (e) {
			room = orr_memory_evict_replicate(node, e->handle, e->self, effort);
			freed += room == ORR_ROOM_MADE ? bytes : 0;
			later |= room == ORR_ROOM_LATER;
		} else if (busy && ++tries < 1000) {
			orr_sys_relax();
		} else {
			return freed ? ORR_ROOM_MADE : later ? ORR_ROOM_LATER : ORR_ROOM_NONE;
		}
		orr_lock(&m->lock);
	}
	orr_unlock(&m->lock);
	return freed && !later ? ORR_ROOM_MADE : later ? ORR_ROOM_LATER : ORR_ROOM_NONE;
}

size_t orr_memory_evict(struct orr_node *node, unsigned memnode, size_t wanted)
{
	if (orr_thread_self()->allocating || !orr_memory_managed(node, memnode))
		return 0;
	return orr_memory_make_room(node, memnode, wanted, ORR_EFFORT_WRITEBACK) == ORR_ROOM_MADE;
}

int orr_memory_hopeless(struct orr_node *node, unsigned memnode, int ignore_held)
{
	struct orr_memnode *m = &node->memnodes[memnode];
	struct orr_repl_ext *e;
	int used = 0;

	if (ORR_ATOMIC_LOAD(&node->nbusy) || ORR_ATOMIC_LOAD_RELAXED(&node->transfers) || ORR_ATOMIC_LOAD(&node->ncopying))
		return 0;
	orr_lock(&m->lock);
	for (e = ignore_held ? NULL : m->lru_head; e && !used; e = e->lru_next)
		used = ORR_ATOMIC_LOAD(&e->self->refcnt) != 0;
	orr_unlock(&m->lock);
	return !used;
}

/* ---- the program's and the policies' wishes ---- */

/* Percentages of a limit: below `minimum` free, free up to `target`. */
static void tidy(struct orr_node *node, unsigned memnode)
{
	struct orr_memnode *m = &node->memnodes[memnode];
	size_t minimum = m->total / 100 * (size_t) node->cfg.minimum_available_mem;
	size_t target = m->total / 100 * (size_t) node->cfg.target_available_mem;
	size_t used = starpu_memory_get_used(memnode);

	if (!m->total || used + minimum <= m->total)
		return;
	if (target < minimum)
		target = minimum;
	orr_memory_make_room(node, memnode, target, ORR_EFFORT_WRITEBACK);
}

void starpu_memchunk_tidy(unsigned memory_node)
{
	struct orr_node *node = orr_self();

	if (memory_node < node->nmemnodes && orr_memory_managed(node, memory_node))
		tidy(node, memory_node);
}

int starpu_data_can_evict(starpu_data_handle_t handle, unsigned node, enum starpu_is_prefetch is_prefetch)
{
	struct orr_replicate *r;
	int yes;

	if (orr_handle_known(handle, __func__) || orr_handle_check_node(handle, (int) node, __func__))
		return 0;
	orr_lock(&handle->lock);
	r = orr_handle_find(handle, node);
	yes = r && is_free(r) && !(handle->ext && handle->ext->can_evict_off && is_prefetch != STARPU_FETCH);
	/* Its only copy must have somewhere to go; speculative transfers are not worth a write-back. */
	if (yes && r->state != ORR_INVALID && !other_valid(handle, r))
		yes = is_prefetch < STARPU_IDLEFETCH && writeback_node(orr_self(), handle, node) >= 0;
	orr_unlock(&handle->lock);
	return yes;
}

int starpu_data_evict_from_node(starpu_data_handle_t handle, unsigned node)
{
	struct orr_node *self = orr_self();
	struct orr_replicate *r;
	enum orr_room room;

	if (orr_handle_check(handle, __func__) || orr_handle_check_node(handle, (int) node, __func__))
		return -EINVAL;
	if (!orr_memory_managed(self, node))
		return starpu_data_test_if_allocated_on_node(handle, node) ? -EBUSY : 0;
	for (;;) {
		unsigned key = orr_waitq_prepare(&self->done);

		orr_lock(&handle->lock);
		r = orr_handle_find(handle, node);
		if (!r || !r->allocated) {
			orr_unlock(&handle->lock);
			orr_waitq_cancel(&self->done);
			return 0;
		}
		if (r->loading || (orr_transfer_loading(handle) && !orr_thread_self()->task && self->ngroups)) {
			/* A write-back takes its time. */
			orr_unlock(&handle->lock);
			if (orr_thread_self()->task) {
				orr_waitq_cancel(&self->done);
				return -EAGAIN;
			}
			orr_waitq_wait(&self->done, key, 100);
			continue;
		}
		orr_waitq_cancel(&self->done);
		room = orr_memory_evict_replicate(self, handle, r, ORR_EFFORT_WRITEBACK);
		if (room == ORR_ROOM_NONE)
			return -EBUSY;
		if (room == ORR_ROOM_LATER && (orr_thread_self()->task || !self->ngroups))
			return 0;
	}
}
