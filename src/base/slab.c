/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slabs (see slab.h). A thread keeps up to two batches of free objects; beyond that it moves one
 * batch to the common depot, and it takes one from there when it has none.
 *
 * Invariant: the first word of a free object links the objects of a batch, the second word of a
 * batch's first object links batches. */
#include "base/process.h"
#include "base/assert.h"
#include "base/seam_memory.h"
#include "base/slab.h"

#include <stdlib.h>
#include <string.h>

struct orr_slab_chunk {
	struct orr_slab_chunk *next;
	size_t bytes;
	char *end; /* end of the part that was handed out, once the chunk is not the newest */
};

struct free_obj {
	struct free_obj *next;
	struct free_obj *next_batch;
};

#define CHUNK_HEADER 64

void orr_slab_init(struct orr_slab *s, size_t size, unsigned index)
{
	memset(s, 0, sizeof(*s));
	s->size = (size + 15) & ~(size_t) 15;
	s->index = index;
	orr_lock_init(&s->lock, ORR_RANK_SLAB);
}

void orr_slab_exit(struct orr_slab *s)
{
	struct orr_slab_chunk *c = s->chunks, *next;

	for (; c; c = next) {
		next = c->next;
		orr_sys_chunk_free(c, c->bytes);
	}
	orr_slab_init(s, s->size, s->index);
}

/* The calling thread's free list, emptied when it stems from an earlier life of the runtime. */
static struct orr_magazine *magazine(struct orr_slab *s)
{
	struct orr_thread *t = orr_thread_self();
	struct orr_magazine *m = &t->mag[s->index];

	orr_assertf(s->size && s->index < ORR_NSLABS, "a slab that was not initialised");

	if (__builtin_expect(m->epoch != t->proc->epoch, 0)) {
		m->list = NULL;
		m->n = 0;
		m->epoch = t->proc->epoch;
	}
	return m;
}

/* A new chunk: small at first, larger as the slab grows, and full of objects. */
static int grow(struct orr_slab *s)
{
	size_t bytes = s->bytes / 4;

	orr_assert_locked(&s->lock);

	if (bytes < 8192)
		bytes = 8192;
	if (bytes > ORR_CHUNK_MOST)
		bytes = ORR_CHUNK_MOST;
	if (bytes < CHUNK_HEADER + 4 * s->size)
		bytes = CHUNK_HEADER + 4 * s->size;
	bytes = CHUNK_HEADER + (bytes - CHUNK_HEADER) / s->size * s->size;
	bytes = (bytes + 63) & ~(size_t) 63;
	struct orr_slab_chunk *c = orr_sys_chunk_alloc(bytes);
	if (!c)
		return -1;
	c->next = NULL;
	c->bytes = bytes;
	c->end = NULL;
	if (s->newest) {
		s->newest->end = s->bump;
		s->newest->next = c;
	} else {
		s->chunks = c;
	}
	s->newest = c;
	s->bytes += bytes;
	s->bump = (char *) c + CHUNK_HEADER;
	s->bump_end = (char *) c + bytes;
	return 0;
}

/* The magazine is empty: a batch from the depot, or fresh objects. */
static void *refill(struct orr_slab *s, struct orr_magazine *m)
{
	void *obj = NULL;

	orr_assert(!m->list && !m->n);
	orr_lock(&s->lock);
	struct free_obj *batch = s->depot;
	if (batch) {
		s->depot = batch->next_batch;
		m->list = batch->next;
		m->n = ORR_SLAB_BATCH - 1;
		obj = batch;
	} else if (s->bump + s->size <= s->bump_end || grow(s) == 0) {
		obj = memset(s->bump, 0, s->size);
		s->bump += s->size;
	}
	orr_unlock(&s->lock);
	return obj;
}

void *orr_slab_alloc(struct orr_slab *s)
{
	struct orr_magazine *m = magazine(s);
	struct free_obj *o = m->list;

	if (__builtin_expect(!o, 0))
		return refill(s, m);
	orr_assert(m->n > 0);
	m->list = o->next;
	m->n--;
	orr_assert(!m->list == !m->n);
	return o;
}

void orr_slab_free(struct orr_slab *s, void *obj)
{
	struct orr_magazine *m = magazine(s);
	struct free_obj *o = obj;

	orr_assertf(((uintptr_t) obj & 15) == 0, "%p was never handed out", obj);
	orr_assertf(o != m->list, "%p is freed twice", obj);
	o->next = m->list;
	m->list = o;
	if (__builtin_expect(++m->n >= 2 * ORR_SLAB_BATCH, 0)) {
		struct free_obj *batch = m->list, *last = batch;

		for (unsigned i = 1; i < ORR_SLAB_BATCH; i++)
			last = last->next;
		m->list = last->next;
		m->n -= ORR_SLAB_BATCH;
		last->next = NULL;
		orr_assert(m->n == ORR_SLAB_BATCH && m->list);
		orr_lock(&s->lock);
		batch->next_batch = s->depot;
		s->depot = batch;
		orr_unlock(&s->lock);
	}
}

void orr_slab_foreach(struct orr_slab *s, void (*f)(void *obj, void *arg), void *arg)
{
	orr_lock(&s->lock);
	for (struct orr_slab_chunk *c = s->chunks; c; c = c->next) {
		char *p = (char *) c + CHUNK_HEADER;
		char *end = c->end ? c->end : s->bump;

		for (; p + s->size <= end; p += s->size)
			f(p, arg);
	}
	orr_unlock(&s->lock);
}
