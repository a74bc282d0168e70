/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers of replicates: allocation under a memory node's limit, eviction, accounting, allocation cache (handbook 27.1, 27.2).
 *
 * Invariant: a replicate is in its memory node's LRU list exactly when its buffer is the runtime's; the replicate's references keep
 * it from being evicted. Lock order: a handle's lock before a memory node's. */
#ifndef ORR_DATA_MEMORY_H
#define ORR_DATA_MEMORY_H

#include "data/handle.h"

/* Gives the replicate a buffer. Under h->lock, which may be dropped and taken again while others are evicted: check r afterwards.
 * Returns 0, -EAGAIN (the lock was dropped, look again) or -ENOMEM (nothing can be evicted; no message yet). */
int orr_memory_allocate(starpu_data_handle_t h, struct orr_replicate *r);
/* Takes the buffer away (to the cache or to the system). Under h->lock. */
void orr_memory_release(starpu_data_handle_t h, struct orr_replicate *r);
/* Was just used: moves to the young end of the LRU list. Under h->lock. */
void orr_memory_touch(starpu_data_handle_t h, struct orr_replicate *r);
/* The replicate is about to be freed: unlinks it from everything. */
void orr_memory_forget(starpu_data_handle_t h, struct orr_replicate *r);
/* Sets up limits; frees caches. */
void orr_memory_init(struct orr_node *node);
void orr_memory_exit(struct orr_node *node);
/* Evicts everything that can be from a memory node; returns the bytes freed. */
size_t orr_memory_evict(struct orr_node *node, unsigned memnode, size_t wanted);

#endif
