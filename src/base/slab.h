/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slabs: objects of one size, allocated in chunks and recycled through free lists kept by each
 * thread.
 *
 * Objects freed by one thread and allocated by another (tasks) travel in batches, so that the
 * common lock is taken once per batch.
 *
 * Invariant: an object is in exactly one free list or in use (asserted as far as a list tells
 * without being searched); memory returns to the system only in orr_slab_exit. */
#ifndef ORR_BASE_SLAB_H
#define ORR_BASE_SLAB_H

#include <stddef.h>
#include "base/seam.h"

/* Objects that travel together; the world may choose its own. */
#ifndef ORR_SLAB_BATCH
#define ORR_SLAB_BATCH 32
#endif
#define ORR_NSLABS 4
/* Bytes of a chunk at most, unless four objects need more; likewise. */
#ifndef ORR_CHUNK_MOST
#define ORR_CHUNK_MOST ((size_t) 1 << 20)
#endif

struct orr_slab_chunk;

struct orr_slab {
	size_t size;     /* of an object, a multiple of 16 */
	unsigned index;  /* which of a thread's free lists */
	orr_lock_t lock; /* protects what follows */
	void *depot;     /* full batches, linked by their first object's second word */
	struct orr_slab_chunk *chunks, *newest; /* the oldest one, and the last one of its list */
	char *bump, *bump_end;                  /* never used part of the newest chunk */
	size_t bytes;                           /* memory held */
};

void orr_slab_init(struct orr_slab *s, size_t size, unsigned index);
/* Frees all chunks: objects still in use become invalid. */
void orr_slab_exit(struct orr_slab *s);
/* Uninitialised memory, or NULL when memory is exhausted. */
void *orr_slab_alloc(struct orr_slab *s);
void orr_slab_free(struct orr_slab *s, void *obj);
/* Calls f on every object ever handed out, in use or not, oldest memory first: the object tells, by
 * fields that are zero in a fresh one and that its owners change atomically. f must neither
 * allocate nor free. */
void orr_slab_foreach(struct orr_slab *s, void (*f)(void *obj, void *arg), void *arg);

#endif
