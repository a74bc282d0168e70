/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers of replicates: allocation under a memory node's limit, eviction, accounting, allocation
 * cache (handbook 27.1, 27.2).
 *
 * Invariant: a replicate is in its memory node's LRU list exactly when its buffer is the runtime's
 * and its memory node is managed (a device's, a disk's, or limited main memory); its references
 * keep it from being evicted. Lock order: a handle's lock before a memory node's; another handle's
 * lock is only ever tried. */
#ifndef ORR_DATA_MEMORY_H
#define ORR_DATA_MEMORY_H

#include "data/handle.h"
#include "data/data.h"

struct orr_memnode_ops;
struct orr_fetch;

/* What a copy is made for. */
enum orr_copy_why {
	ORR_COPY_WANTED, /* somebody wants to use it */
	ORR_COPY_EVICT,  /* its source's buffer is freed afterwards */
	ORR_COPY_CLEAN,  /* its source's buffer shall be free to go at any time */
};

/* How much may be done to find memory for a buffer. */
enum orr_effort {
	ORR_EFFORT_NONE,      /* take what is free */
	ORR_EFFORT_CLEAN,     /* drop copies that exist elsewhere */
	ORR_EFFORT_WRITEBACK, /* write the only copies back too */
};

enum orr_room {
	ORR_ROOM_NONE,    /* nothing can be evicted now */
	ORR_ROOM_MADE,    /* try again */
	ORR_ROOM_LATER,   /* write-backs are under way: node->nstarving members are woken when they
			     end */
	ORR_ROOM_NOWHERE, /* of one replicate: where it would be written to is full or broken,
			     others would fare the same */
};

/* Gives the replicate a buffer out of free memory or the allocation cache. Under h->lock. Returns 0
 * or -ENOMEM (no message yet). */
int orr_memory_allocate(starpu_data_handle_t h, struct orr_replicate *r);
/* Takes the buffer away (to the cache or to the system). Under h->lock. */
void orr_memory_release(starpu_data_handle_t h, struct orr_replicate *r);
/* Was just used: moves to the young end of the LRU list. Under h->lock. */
void orr_memory_touch(starpu_data_handle_t h, struct orr_replicate *r);
/* Will not be used soon, or was invalidated: moves to the old end. Under h->lock. */
void orr_memory_demote(struct orr_replicate *r);
/* The replicate is about to be freed: unlinks it from everything. */
void orr_memory_forget(starpu_data_handle_t h, struct orr_replicate *r);

/* A buffer shaped like h's for an interface structure that is no replicate (scratch), and its end.
 * Without locks. The first returns 0 or -EAGAIN when memory is exhausted for now. */
int orr_memory_scratch(starpu_data_handle_t h, void *iface, unsigned memnode);
void orr_memory_scratch_end(starpu_data_handle_t h, void *iface, unsigned memnode);

/* Adds a memory node; its number, -ENOSPC or -ENOMEM. */
int orr_memory_add_node(struct orr_process *proc, enum starpu_node_kind kind, int devid,
			const struct orr_memnode_ops *ops, void *arg, size_t total);
/* Frees caches. */
void orr_memory_exit(struct orr_process *proc);

/* evict.c: tries to make room for `wanted` bytes. Without locks. */
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
/* Empties the allocation cache until used + wanted fits (everything when wanted is SIZE_MAX). */
size_t orr_memory_flush_cache(struct orr_process *proc, unsigned memnode, size_t wanted);

static inline int orr_memory_managed(const struct orr_process *proc, unsigned memnode)
{
	return memnode != STARPU_MAIN_RAM || proc->data->memnodes[STARPU_MAIN_RAM].total;
}

/* Memory was given back: those who wait for it look again. */
void orr_memory_kick_slow(struct orr_process *proc);
static inline void orr_memory_freed(struct orr_process *proc)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD(&proc->data->nstarving) != 0, 0))
		orr_memory_kick_slow(proc);
}

/* tidy.c: memory that runs low is evicted or written back ahead by groups that have nothing else to
 * do (STARPU_MINIMUM_AVAILABLE_MEM, STARPU_MINIMUM_CLEAN_BUFFERS). */
/* Sets what the environment says for a new memory node. */
void orr_memory_tidy_init(struct orr_process *proc, struct orr_memnode *m);
/* Calls for an idle group if some memory runs low. Without locks. */
void orr_memory_look(struct orr_process *proc);
/* By an idle group when proc->data->untidy. Returns 1 when it got something done. */
int orr_memory_tidy(struct orr_process *proc);

/* Something that keeps memory ended. Without locks. */
static inline void orr_memory_kick(struct orr_process *proc)
{
	orr_memory_freed(proc);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->data->limited), 0) &&
	    !ORR_ATOMIC_LOAD_RELAXED(&proc->data->untidy))
		orr_memory_look(proc);
}

#endif
