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
/* Under h->lock: can r be evicted (nobody uses it), and does its datum have another valid copy, or
 * soon? */
int orr_memory_is_free(const struct orr_replicate *r);
int orr_memory_is_clean(starpu_data_handle_t h, struct orr_replicate *r);
/* Where the only copy of a datum that lies on memnode is written back to: main memory, from there a
 * disk; -1: nowhere. */
int orr_memory_writeback_node(struct orr_process *proc, starpu_data_handle_t h, unsigned memnode);
/* Whether nothing that happens may still free memory: whoever waits for it waits for ever.
 * ignore_held: what others than tasks hold, they hold for ever. */
int orr_memory_hopeless(struct orr_process *proc, unsigned memnode, int ignore_held);

#endif
