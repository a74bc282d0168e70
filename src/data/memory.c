/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers of replicates: allocation, the LRU lists, and the cache of buffers for reuse (see
 * memory.h).
 *
 * Invariant: memnode->used counts what starpu_malloc_on_node handed out with STARPU_MALLOC_COUNT
 * and was not given back, cached buffers included; cache_bytes is their part. */
#include "data/memory.h"
#include "data/data.h"
#include "data/mapping.h"
#include "data/memory_trace.h"
#include "orrery.h"
#include "data/memnode.h"
#include "base/park.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct orr_repl_ext *orr_replicate_ext(struct orr_replicate *r)
{
	struct orr_repl_ext *ext = r->ext;

	if (!ext) {
		ext = calloc(1, sizeof(*ext));
		if (ext)
			ext->self = r;
		ORR_ATOMIC_STORE(&r->ext, ext); /* read without the lock (orr_fetch_quick) */
	}
	return ext;
}

/* Unlimited memories keep no more than that for reuse. */
#define CACHE_MAX ((size_t) 256 << 20)

/* A buffer without replicate. */
struct cached {
	struct cached *next;
	struct starpu_data_interface_ops *ops;
	uint32_t footprint;
	size_t bytes;
	char iface[];
};

/* ---- LRU lists; all under m->lock ---- */

static void lru_unlink(struct orr_memnode *m, struct orr_repl_ext *e)
{
	orr_assert_locked(&m->lock);
	orr_assert(e->self->in_lru && (e->lru_prev || m->lru_head == e) &&
		   (e->lru_next || m->lru_tail == e));
	*(e->lru_prev ? &e->lru_prev->lru_next : &m->lru_head) = e->lru_next;
	*(e->lru_next ? &e->lru_next->lru_prev : &m->lru_tail) = e->lru_prev;
	e->lru_prev = e->lru_next = NULL;
}

static void lru_append(struct orr_memnode *m, struct orr_repl_ext *e)
{
	orr_assert_locked(&m->lock);
	orr_assert(!m->lru_head == !m->lru_tail);
	e->lru_prev = m->lru_tail;
	e->lru_next = NULL;
	*(m->lru_tail ? &m->lru_tail->lru_next : &m->lru_head) = e;
	m->lru_tail = e;
}

static void lru_prepend(struct orr_memnode *m, struct orr_repl_ext *e)
{
	orr_assert_locked(&m->lock);
	orr_assert(!m->lru_head == !m->lru_tail);
	e->lru_next = m->lru_head;
	e->lru_prev = NULL;
	*(m->lru_head ? &m->lru_head->lru_prev : &m->lru_tail) = e;
	m->lru_head = e;
}

static void lru_enter(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *r,
		      size_t bytes)
{
	struct orr_memnode *m = proc->data->memnodes[r->memnode];

	orr_assert_locked(&h->lock);
	orr_assert(!r->in_lru && r->mine && r->allocated && orr_memory_managed(proc, r->memnode));
	r->ext->handle = h;
	r->ext->self = r;
	r->ext->bytes = bytes;
	orr_lock(&m->lock);
	lru_append(m, r->ext);
	r->in_lru = 1;
	orr_unlock(&m->lock);
}

static void lru_leave(struct orr_process *proc, struct orr_replicate *r)
{
	struct orr_memnode *m = proc->data->memnodes[r->memnode];

	orr_lock(&m->lock);
	if (r->in_lru)
		lru_unlink(m, r->ext);
	r->in_lru = 0;
	orr_unlock(&m->lock);
}

void orr_memory_touch(starpu_data_handle_t h, struct orr_replicate *r)
{
	orr_assert_locked(&h->lock);
	if (!r->in_lru)
		return;
	struct orr_memnode *m = orr_self()->data->memnodes[r->memnode];
	orr_lock(&m->lock);
	if (m->lru_tail != r->ext) {
		lru_unlink(m, r->ext);
		lru_append(m, r->ext);
	}
	orr_unlock(&m->lock);
}

void orr_memory_demote(struct orr_replicate *r)
{
	if (!r->in_lru)
		return;
	orr_assert_locked(&r->ext->handle->lock);
	struct orr_memnode *m = orr_self()->data->memnodes[r->memnode];
	orr_lock(&m->lock);
	if (m->lru_head != r->ext) {
		lru_unlink(m, r->ext);
		lru_prepend(m, r->ext);
	}
	orr_unlock(&m->lock);
}

/* ---- the allocation cache ---- */

static int cacheable(struct starpu_data_interface_ops *ops)
{
	return !ops->dontcache && (ops->alloc_compare || ops->compare);
}

static uint32_t cache_key(starpu_data_handle_t h)
{
	if (h->ops->alloc_footprint)
		return h->ops->alloc_footprint(h);
	return h->ops->footprint ? h->ops->footprint(h) : 0;
}

static void drop(struct cached *c, unsigned memnode)
{
	if (c->ops->free_data_on_node)
		c->ops->free_data_on_node(c->iface, memnode);
	free(c);
}

size_t orr_memory_flush_cache(struct orr_process *proc, unsigned memnode, size_t wanted)
{
	struct orr_memnode *m = proc->data->memnodes[memnode];
	size_t freed = 0;

	for (;;) {
		struct cached *c;

		orr_lock(&m->lock);
		c = m->cache;
		if (c && wanted != SIZE_MAX &&
		    (m->total ? m->used + wanted <= m->total : freed >= wanted))
			c = NULL;
		if (c) {
			ORR_ATOMIC_STORE_RELAXED(&m->cache, c->next);
			if (!c->next)
				m->cache_tail = NULL;
			orr_assert(ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes) >= c->bytes);
			ORR_ATOMIC_ADD_RELAXED(&m->cache_bytes, -c->bytes);
		}
		orr_unlock(&m->lock);
		if (!c)
			return freed;
		freed += c->bytes ? c->bytes : 1;
		drop(c, memnode);
	}
}

/* Puts the buffer of iface aside. Returns 1, or 0 when it must be freed. */
static int cache_put(struct orr_process *proc, starpu_data_handle_t h, void *iface,
		     unsigned memnode, size_t bytes)
{
	struct orr_memnode *m = proc->data->memnodes[memnode];
	struct cached *c;

	if (!cacheable(h->ops) || proc->state != ORR_PROCESS_UP ||
	    (!m->total && ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes) + bytes > CACHE_MAX))
		return 0;
	c = malloc(sizeof(*c) + h->ops->interface_size);
	if (!c)
		return 0;
	c->next = NULL;
	c->ops = h->ops;
	c->footprint = cache_key(h);
	c->bytes = bytes;
	if (h->ops->cache_data_on_node)
		h->ops->cache_data_on_node(c->iface, iface, memnode);
	else
		memcpy(c->iface, iface, h->ops->interface_size);
	orr_lock(&m->lock);
	if (m->cache_tail)
		((struct cached *) m->cache_tail)->next = c;
	else
		ORR_ATOMIC_STORE_RELAXED(&m->cache, c); /* looked at without the lock */
	m->cache_tail = c;
	ORR_ATOMIC_ADD_RELAXED(&m->cache_bytes, bytes);
	struct orr_trace_event e = orr_memory_note(proc, m);
	orr_unlock(&m->lock);
	orr_memory_record(proc, e);
	return 1;
}

/* Gives iface a cached buffer of the same allocation. Returns its bytes, or -1. */
static starpu_ssize_t cache_get(struct orr_process *proc, starpu_data_handle_t h, void *iface,
				unsigned memnode)
{
	struct orr_memnode *m = proc->data->memnodes[memnode];
	int (*same)(void *, void *) = h->ops->alloc_compare ? h->ops->alloc_compare
							    : h->ops->compare;
	struct cached *c, *prev = NULL;
	struct orr_trace_event e = { .kind = ORR_TRACE_NONE };
	starpu_ssize_t bytes;

	if (!ORR_ATOMIC_LOAD_RELAXED(&m->cache) || !cacheable(h->ops))
		return -1;
	uint32_t key = cache_key(h);
	orr_lock(&m->lock);
	for (c = m->cache; c; prev = c, c = c->next)
		if (c->footprint == key && c->ops == h->ops && same(iface, c->iface))
			break;
	if (c) {
		if (prev)
			prev->next = c->next;
		else
			ORR_ATOMIC_STORE_RELAXED(&m->cache, c->next);
		if (!c->next)
			m->cache_tail = prev;
		orr_assert(ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes) >= c->bytes);
		ORR_ATOMIC_ADD_RELAXED(&m->cache_bytes, -c->bytes);
		e = orr_memory_note(proc, m);
	}
	orr_unlock(&m->lock);
	orr_memory_record(proc, e);
	if (!c)
		return -1;
	if (h->ops->reuse_data_on_node)
		h->ops->reuse_data_on_node(iface, c->iface, memnode);
	else
		memcpy(iface, c->iface, h->ops->interface_size);
	bytes = (starpu_ssize_t) c->bytes;
	free(c);
	return bytes;
}

/* ---- buffers ---- */

/* Gives iface a buffer from the cache or from free memory. Returns its bytes, or -ENOMEM. */
static starpu_ssize_t get_buffer(struct orr_process *proc, starpu_data_handle_t h, void *iface,
				 unsigned memnode)
{
	struct orr_thread *self = orr_thread_self();
	uint8_t saved = self->under_datum;

	starpu_ssize_t bytes = orr_memory_managed(proc, memnode)
				       ? cache_get(proc, h, iface, memnode)
				       : -1;
	if (bytes >= 0)
		return bytes;
	/* Reclaiming is the caller's business: a handle's lock is held here. */
	self->under_datum = 1;
	bytes = h->ops->allocate_data_on_node(iface, memnode);
	self->under_datum = saved;
	return bytes;
}

static void put_buffer(struct orr_process *proc, starpu_data_handle_t h, void *iface,
		       unsigned memnode, size_t bytes)
{
	if (!orr_memory_managed(proc, memnode) || !cache_put(proc, h, iface, memnode, bytes)) {
		if (h->ops->free_data_on_node)
			h->ops->free_data_on_node(iface, memnode);
	}
}

/* The calling thread gave memory back under a datum's lock, which it holds no more. */
static void memory_tell(struct orr_process *proc)
{
	for (unsigned i = 0; i < proc->data->nmemnodes; i++)
		orr_waitq_wake(&proc->data->memnodes[i]->freed);
	orr_memory_freed(proc);
}

void orr_handle_unlock_slow(starpu_data_handle_t h)
{
	h->gave_back = 0;
	orr_unlock(&h->lock);
	memory_tell(orr_self());
}

/* Under h->lock: remembers that memory was freed; orr_handle_unlock() wakes the waiters. */
static void postpone(starpu_data_handle_t h)
{
	struct orr_thread *self = orr_thread_self();

	orr_assert_locked(&h->lock);
	if (self->gave_back)
		h->gave_back = 1;
	self->gave_back = 0;
}

int orr_memory_allocate(starpu_data_handle_t h, struct orr_replicate *r)
{
	struct orr_process *proc = orr_self();
	int managed = orr_memory_managed(proc, r->memnode);

	orr_assert_locked(&h->lock);
	orr_assert(!r->allocated && !r->mine && !r->in_lru && !r->loading);
	if (orr_mapping_begin(proc, h, r))
		return 0;
	if (managed && !orr_replicate_ext(r))
		return -ENOMEM;
	if (!h->ops->allocate_data_on_node)
		orr_fatal(
			"%s: its interface has no allocate_data_on_node operation, but the data are used on memory node %u",
			orr_handle_name(h), r->memnode);
	if (managed) /* its memory is in use before it is in a list */
		ORR_ATOMIC_ADD(&proc->data->memnodes[r->memnode]->nchanging, 1);
	starpu_ssize_t bytes = get_buffer(proc, h, orr_replicate_iface(h, r), r->memnode);
	postpone(h);
	if (bytes >= 0) {
		r->mine = 1;
		ORR_ATOMIC_STORE(&r->allocated, 1); /* read without the lock by orr_fetch_quick */
		if (managed)
			lru_enter(proc, h, r, (size_t) bytes);
	}
	if (managed)
		ORR_ATOMIC_ADD(&proc->data->memnodes[r->memnode]->nchanging, -1);
	return bytes >= 0 ? 0 : -ENOMEM;
}

void orr_memory_release(starpu_data_handle_t h, struct orr_replicate *r)
{
	struct orr_process *proc = orr_self();
	struct orr_thread *self = orr_thread_self();
	uint8_t saved = self->under_datum;
	size_t bytes = r->in_lru ? r->ext->bytes : 0;

	if (!r->allocated || !r->mine)
		return;
	orr_assert_locked(&h->lock);
	orr_assert(!r->loading && r->in_lru == orr_memory_managed(proc, r->memnode));
	if (r == &h->main)
		orr_mapping_end_all(h);
	struct orr_memnode *m = r->in_lru ? proc->data->memnodes[r->memnode] : NULL;
	if (m) { /* from here on it is in no list, and not free yet */
		ORR_ATOMIC_ADD(&m->nchanging, 1);
		lru_leave(proc, r);
	}
	r->allocated = 0;
	r->mine = 0;
	self->under_datum = 1;
	put_buffer(proc, h, orr_replicate_iface(h, r), r->memnode, bytes);
	if (m)
		ORR_ATOMIC_ADD(&m->nchanging, -1);
	self->under_datum = saved;
	self->gave_back = 1; /* a buffer put aside is one for those that wait as well */
	postpone(h);
}

void orr_memory_forget(starpu_data_handle_t h, struct orr_replicate *r)
{
	(void) h;
	if (r->in_lru)
		lru_leave(orr_self(), r);
}

int orr_memory_scratch(starpu_data_handle_t h, void *iface, unsigned memnode)
{
	struct orr_thread *self = orr_thread_self();
	starpu_ssize_t bytes = get_buffer(self->proc, h, iface, memnode);

	if (self->gave_back)
		memory_tell(self->proc);
	self->gave_back = 0;
	return bytes >= 0 ? 0 : -ENOMEM;
}

void orr_memory_scratch_end(starpu_data_handle_t h, void *iface, unsigned memnode)
{
	struct orr_process *proc = orr_self();

	put_buffer(proc, h, iface, memnode, starpu_data_get_alloc_size(h));
	orr_memory_freed(proc);
}

/* Workers that wait for memory retry at each step, and any group retries requests that wait. If a
 * worker gives back what it got in a retry that failed, its own group has no reason to try again,
 * but for requests that it may have tried before. */
void orr_memory_kick_slow(struct orr_process *proc)
{
	/* A request that is the only one to wait gives back what it could not use. */
	if (orr_thread_self()->starved && ORR_ATOMIC_LOAD(&proc->data->nstarving) == 1)
		return;
	ORR_ATOMIC_ADD(&proc->data->kicks, 1);
	for (unsigned i = 0; i < proc->data->nmemnodes; i++)
		orr_waitq_wake(&proc->data->memnodes[i]->freed);
	if (proc->data->up->starving()) {
		ORR_ATOMIC_STORE(&proc->data->again, 1);
		orr_park_wake_others(proc);
	} else {
		orr_park_wake_all(proc);
	}
}

const char *orr_memory_usage(struct orr_process *proc, unsigned memnode, char *buf, size_t size)
{
	size_t used = starpu_memory_get_used(memnode), total = proc->data->memnodes[memnode]->total;

	if (total)
		snprintf(
			buf, size,
			"%zu of %zu bytes are in use; raise the limit (STARPU_LIMIT_CPU_MEM, STARPU_LIMIT_CUDA_MEM)",
			used, total);
	else
		snprintf(
			buf, size,
			"%zu bytes are in use, and the system gives no more; use a machine with more memory",
			used);
	return buf;
}

void orr_memory_use(struct orr_process *proc, unsigned memnode, struct orr_memory_use *use)
{
	struct orr_memnode *m = proc->data->memnodes[memnode];

	orr_lock(&m->lock);
	use->used = m->used;
	use->total = m->total;
	orr_unlock(&m->lock);
	use->evictions = ORR_ATOMIC_LOAD_RELAXED(&m->evictions);
	use->cleaned = ORR_ATOMIC_LOAD_RELAXED(&m->cleaned);
}
