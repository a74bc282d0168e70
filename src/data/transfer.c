/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bringing data to where they are needed (MSI coherency).
 *
 * orr_fetch makes one replicate usable. A copy is issued by the thread that needs it; when the world says that it takes time
 * (simulated devices), the replicate is `loading` until then, and those who want it meanwhile wait for the same copy.
 * Invariant: the payload of a replicate that is loading is not read, and its source keeps a reference until the copy is over. */
#include "data/handle.h"
#include "data/iface.h"
#include "data/memory.h"
#include "data/transfer.h"
#include "drivers/memnode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Somebody who waits for a replicate that is loading. */
struct waiter {
	struct waiter *next;
	void (*done)(void *);
	void *arg;
	unsigned mode;
};

/* A copy that takes time. Kept in node->transfers ordered by (end_us, seq). */
struct orr_transfer {
	struct orr_transfer *next;
	starpu_data_handle_t handle;
	struct orr_replicate *src, *dst;
	double end_us;
};

struct orr_repl_ext *orr_replicate_ext(struct orr_replicate *r)
{
	if (!r->ext)
		r->ext = calloc(1, sizeof(*r->ext));
	return r->ext;
}

/* Which valid replicate to copy from: main memory first, else the first found. Under h->lock. */
static struct orr_replicate *choose_source(starpu_data_handle_t h)
{
	struct orr_replicate *r;

	for (r = &h->main; r; r = r->next)
		if (r->state != ORR_INVALID)
			return r;
	return NULL;
}

static int add_waiter(struct orr_replicate *r, unsigned mode, void (*done)(void *), void *arg)
{
	struct orr_repl_ext *ext = orr_replicate_ext(r);
	struct waiter *w = ext ? malloc(sizeof(*w)) : NULL, **end;

	if (!w)
		return -ENOMEM;
	w->next = NULL;
	w->done = done;
	w->arg = arg;
	w->mode = mode;
	for (end = (struct waiter **) &ext->waiters; *end; end = &(*end)->next)
		;
	*end = w;
	return 0;
}

/* The copy from src to dst is over: both are valid. Under h->lock; returns those who waited. */
static struct waiter *loaded(starpu_data_handle_t h, struct orr_replicate *src, struct orr_replicate *dst)
{
	struct waiter *list = dst->ext ? dst->ext->waiters : NULL, *w;

	dst->loading = 0;
	if (dst->ext)
		dst->ext->waiters = NULL;
	src->refcnt--;
	ORR_ATOMIC_STORE(&src->state, ORR_SHARED);
	ORR_ATOMIC_STORE(&dst->state, ORR_SHARED);
	for (w = list; w; w = w->next)
		if (w->mode & STARPU_W)
			orr_handle_written(h, dst);
	return list;
}

static void call_waiters(struct waiter *w)
{
	struct waiter *next;

	for (; w; w = next) {
		next = w->next;
		if (w->done)
			w->done(w->arg);
		free(w);
	}
}

static int copy(struct orr_node *node, starpu_data_handle_t h, struct orr_replicate *src, struct orr_replicate *dst, double *end_us)
{
	struct orr_copy_channel chan = { .src = src->memnode, .dst = dst->memnode };
	struct orr_memnode *from = &node->memnodes[src->memnode], *to = &node->memnodes[dst->memnode];
	const struct orr_memnode_ops *ops = to->kind == STARPU_CPU_RAM ? from->ops : to->ops;
	int ret = orr_iface_copy(h->ops, orr_replicate_iface(h, src), src->memnode, orr_replicate_iface(h, dst), dst->memnode, &chan);

	if (ret == -EAGAIN) {
		while (!ops->test(node, &chan))
			orr_sys_relax();
		ret = 0;
	}
	if (ret)
		return ret;
	ORR_ATOMIC_ADD_RELAXED(&from->bytes_out, chan.bytes);
	ORR_ATOMIC_ADD_RELAXED(&to->bytes_in, chan.bytes);
	*end_us = orr_sys_copy_end_us(node, src->memnode, dst->memnode, chan.bytes);
	return 0;
}

static void schedule(struct orr_node *node, starpu_data_handle_t h, struct orr_replicate *src, struct orr_replicate *dst, double end_us)
{
	struct orr_transfer *t = malloc(sizeof(*t)), **p;

	if (!t)
		orr_fatal("out of memory while transferring %s", orr_handle_name(h));
	t->handle = h;
	t->src = src;
	t->dst = dst;
	t->end_us = end_us;
	orr_lock(&node->lock);
	for (p = &node->transfers; *p && (*p)->end_us <= end_us; p = &(*p)->next)
		;
	t->next = *p;
	*p = t;
	orr_unlock(&node->lock);
	orr_waitq_wake(&node->groups[0].bell);
}

double orr_transfer_progress(struct orr_group *g)
{
	struct orr_node *node = g->node;

	if (__builtin_expect(!ORR_ATOMIC_LOAD_RELAXED(&node->transfers), 1))
		return -1;
	for (;;) {
		struct orr_transfer *t;
		struct waiter *w;
		double end = -1;

		orr_lock(&node->lock);
		t = node->transfers;
		if (t && t->end_us <= orr_sys_now_us()) {
			node->transfers = t->next;
		} else {
			end = t ? t->end_us : -1;
			t = NULL;
		}
		orr_unlock(&node->lock);
		if (!t)
			return end;
		orr_lock(&t->handle->lock);
		w = loaded(t->handle, t->src, t->dst);
		orr_unlock(&t->handle->lock);
		free(t);
		call_waiters(w);
	}
}

/* The buffer for r, evicting others if need be. Under h->lock. Returns like orr_memory_allocate, with a message on failure. */
static int ensure_buffer(starpu_data_handle_t h, struct orr_replicate *r)
{
	int ret;

	if (r->allocated)
		return 0;
	ret = orr_memory_allocate(h, r);
	if (ret == -ENOMEM)
		orr_error("memory node %u is full: %zu bytes for %s cannot be had although everything unused was evicted; raise its limit or "
			  "use smaller data", r->memnode, starpu_data_get_alloc_size(h), orr_handle_name(h));
	return ret;
}

static int fetch_slow(starpu_data_handle_t h, unsigned memnode, unsigned mode, void (*done)(void *), void *arg)
{
	struct orr_node *node = orr_self();
	struct orr_replicate *r, *src = NULL;
	struct waiter *w;
	double end_us = 0;
	int ret;

	orr_lock(&h->lock);
	r = orr_handle_replicate(h, memnode);
	if (!r) {
		orr_unlock(&h->lock);
		return -ENOMEM;
	}
	r->refcnt++;
again:
	if (r->loading && ((mode & STARPU_R) || r->state == ORR_INVALID)) {
		ret = add_waiter(r, mode, done, arg);
		orr_unlock(&h->lock);
		return ret ? ret : 1;
	}
	if ((mode & STARPU_R) && r->state == ORR_INVALID && !(src = choose_source(h))) {
		r->refcnt--;
		orr_unlock(&h->lock);
		orr_error("%s is read but was never written: give it an initial value (a home node, or a task that writes it)", orr_handle_name(h));
		return -ENODATA;
	}
	ret = ensure_buffer(h, r);
	if (ret == -EAGAIN)
		goto again;
	if (ret) {
		r->refcnt--;
		orr_unlock(&h->lock);
		return ret;
	}
	if (!(mode & STARPU_R) || r->state != ORR_INVALID) {
		if (mode & STARPU_W)
			orr_handle_written(h, r);
		orr_memory_touch(h, r);
		orr_unlock(&h->lock);
		return 0;
	}
	src->refcnt++;
	r->loading = 1;
	orr_unlock(&h->lock);
	ret = copy(node, h, src, r, &end_us);
	if (ret) {
		orr_error("copying %s from memory node %u to %u failed: %s", orr_handle_name(h), src->memnode, memnode, strerror(-ret));
		return ret;
	}
	if (end_us > orr_sys_now_us()) {
		orr_lock(&h->lock);
		ret = add_waiter(r, mode, done, arg);
		orr_unlock(&h->lock);
		if (ret)
			return ret;
		schedule(node, h, src, r, end_us);
		return 1;
	}
	orr_lock(&h->lock);
	w = loaded(h, src, r);
	if (mode & STARPU_W)
		orr_handle_written(h, r);
	orr_memory_touch(h, r);
	orr_unlock(&h->lock);
	call_waiters(w);
	return 0;
}

int orr_fetch(starpu_data_handle_t h, unsigned memnode, enum starpu_data_access_mode mode, int prio, void (*done)(void *arg), void *arg)
{
	(void) prio;
	if (memnode == STARPU_MAIN_RAM && !h->main.next && !h->main.ext) {
		/* The common case: main memory is the only one that ever held it. */
		if (!(mode & STARPU_W)) {
			if (ORR_ATOMIC_LOAD(&h->main.state) != ORR_INVALID) {
				ORR_ATOMIC_ADD_RELAXED(&h->main.refcnt, 1);
				return 0;
			}
		} else if (h->main.allocated && (h->main.state != ORR_INVALID || !(mode & STARPU_R))) {
			ORR_ATOMIC_ADD_RELAXED(&h->main.refcnt, 1);
			ORR_ATOMIC_STORE(&h->main.state, ORR_MODIFIED);
			return 0;
		}
	}
	return fetch_slow(h, memnode, mode, done, arg);
}

void orr_fetch_unref(starpu_data_handle_t h, unsigned memnode, enum starpu_data_access_mode mode)
{
	struct orr_replicate *r;

	if (memnode == STARPU_MAIN_RAM) {
		ORR_ATOMIC_ADD_RELAXED(&h->main.refcnt, -1);
		if (h->ext && h->ext->wt_mask && (mode & STARPU_W))
			orr_write_through(h, memnode);
		return;
	}
	orr_lock(&h->lock);
	r = orr_handle_find(h, memnode);
	ORR_ATOMIC_ADD_RELAXED(&r->refcnt, -1);
	orr_unlock(&h->lock);
	if (h->ext && h->ext->wt_mask && (mode & STARPU_W))
		orr_write_through(h, memnode);
}

void orr_write_through(starpu_data_handle_t h, unsigned from)
{
	struct orr_node *node = orr_self();
	unsigned i;

	for (i = 0; i < node->nmemnodes; i++)
		if (i != from && (h->ext->wt_mask & (1U << i)))
			if (orr_fetch_wait(h, i, STARPU_R, 0) == 0)
				orr_fetch_unref(h, i, STARPU_R);
}

struct sync {
	struct orr_node *node;
	int done;
};

static void sync_done(void *arg)
{
	struct sync *s = arg;

	ORR_ATOMIC_STORE(&s->done, 1);
	orr_waitq_wake(&s->node->done);
}

int orr_fetch_wait(starpu_data_handle_t h, unsigned memnode, enum starpu_data_access_mode mode, int prio)
{
	struct sync s = { .node = orr_self() };
	int ret = orr_fetch(h, memnode, mode, prio, sync_done, &s);

	if (ret != 1)
		return ret;
	while (!ORR_ATOMIC_LOAD(&s.done)) {
		unsigned key = orr_waitq_prepare(&s.node->done);

		if (ORR_ATOMIC_LOAD(&s.done))
			orr_waitq_cancel(&s.node->done);
		else
			orr_waitq_wait(&s.node->done, key, -1);
	}
	return 0;
}
