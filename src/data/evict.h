/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Eviction: making room on a memory node by taking buffers from data that nobody uses.
 *
 * Invariant: a replicate is evicted only if nothing references it, and its value is elsewhere
 * before its buffer goes. */
#ifndef ORR_DATA_EVICT_H
#define ORR_DATA_EVICT_H

#include "data/memory.h"

/* Tries to make room for `wanted` bytes. Without locks. */
enum orr_room orr_memory_make_room(struct orr_process *proc, unsigned memnode, size_t wanted,
				   enum orr_effort effort);
/* The same for an allocation by the program or by an interface. ORR_ROOM_NONE when the runtime
 * itself is allocating, under a handle's lock: it makes room by its own means. */
enum orr_room orr_memory_evict(struct orr_process *proc, unsigned memnode, size_t wanted);
/* Frees the buffer of a replicate that nobody uses, writing the value back when it is the only one.
 * Under h->lock, which is released. Returns ORR_ROOM_NONE when it is in use, or has no memory to go
 * to. */
enum orr_room orr_memory_evict_replicate(struct orr_process *proc, starpu_data_handle_t h,
					 struct orr_replicate *r, enum orr_effort effort);
/* Writes the only copy of the datum back to where `why` (a write-back) wants it. Under h->lock,
 * dropped meanwhile: the caller pinned h. *waiters as in orr_transfer. */
enum orr_room orr_memory_write_back(struct orr_process *proc, starpu_data_handle_t h,
				    struct orr_replicate *r, enum orr_copy_why why,
				    struct orr_fetch **waiters);
/* Under h->lock. The first returns true if nobody uses r, so that it can be evicted; the second, if
 * its datum has another valid copy, or will have one soon. */
int orr_memory_is_free(const struct orr_replicate *r);
int orr_memory_is_clean(starpu_data_handle_t h, struct orr_replicate *r);
/* The memory node to which the only copy of a datum on memnode is written back: main memory, or
 * from there a disk; -1: none. */
int orr_memory_writeback_node(struct orr_process *proc, starpu_data_handle_t h, unsigned memnode);
/* Returns true if nothing that is under way can free memory, so that waiting for it would never
 * end, unless the program gives back what it was lent. ignore_held: assume that acquisitions are
 * never released. */
int orr_memory_hopeless(struct orr_process *proc, unsigned memnode, int ignore_held);

#endif
