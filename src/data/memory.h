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

/* The reasons for a copy. */
enum orr_copy_why {
	ORR_COPY_FETCH,      /* somebody wants to use it */
	ORR_COPY_EVICTION,   /* its source's buffer is freed afterwards */
	ORR_COPY_WRITE_BACK, /* its source's buffer shall be free to go at any time */
	ORR_COPY_PREFETCH,   /* somebody will want to use it */
};

/* The means that may be used to find memory for a buffer. */
enum orr_effort {
	ORR_EFFORT_NONE,      /* take what is free */
	ORR_EFFORT_CLEAN,     /* drop copies that exist elsewhere */
	ORR_EFFORT_WRITEBACK, /* write the only copies back too */
};

enum orr_room {
	ORR_ROOM_NONE,    /* nothing can be evicted now */
	ORR_ROOM_MADE,    /* try again */
	ORR_ROOM_LATER,   /* write-backs are under way, whose end wakes threads counted in
			     proc->data->nstarving; or somebody has a datum locked */
	ORR_ROOM_NOWHERE, /* for one replicate: the place to write it back to is full or broken,
			     which is so for others, too */
};

/* Gives the replicate a buffer out of free memory or the allocation cache. Under h->lock. Returns 0
 * or -ENOMEM (no message yet). */
int orr_memory_allocate(starpu_data_handle_t h, struct orr_replicate *r);
/* Takes the buffer away (to the cache or to the system). Under h->lock. */
void orr_memory_release(starpu_data_handle_t h, struct orr_replicate *r);
/* r was just used: moves it to the young end of the LRU list. Under h->lock. */
void orr_memory_touch(starpu_data_handle_t h, struct orr_replicate *r);
/* r will not be used soon, or was invalidated: moves it to the old end. Under its handle's lock. */
void orr_memory_demote(struct orr_replicate *r);
/* The replicate is about to be freed: unlinks it from everything. */
void orr_memory_forget(starpu_data_handle_t h, struct orr_replicate *r);

/* Empties the allocation cache until used + wanted fits (everything when wanted is SIZE_MAX). */
size_t orr_memory_flush_cache(struct orr_process *proc, unsigned memnode, size_t wanted);

/* The use of a memory node at a moment. */
struct orr_memory_use {
	size_t used, total;          /* bytes; total 0: no limit */
	uint64_t evictions, cleaned; /* buffers taken away, and copies written back ahead */
};
/* [any] */
void orr_memory_use(struct orr_process *proc, unsigned memnode, struct orr_memory_use *use);

static inline int orr_memory_managed(const struct orr_process *proc, unsigned memnode)
{
	return memnode != STARPU_MAIN_RAM || proc->data->memnodes[STARPU_MAIN_RAM]->total;
}

/* For messages about a memory that is exhausted: how much is in use, and what the program can do
 * about it. Writes to buf, which it returns. */
const char *orr_memory_usage(struct orr_process *proc, unsigned memnode, char *buf, size_t size);

/* Memory was given back: wakes the threads that wait for it. Without locks. They count themselves
 * in nstarving before their last attempt. */
void orr_memory_kick_slow(struct orr_process *proc);
static inline void orr_memory_freed(struct orr_process *proc)
{
	ORR_ATOMIC_FENCE();
	if (__builtin_expect(ORR_ATOMIC_LOAD(&proc->data->nstarving) != 0, 0))
		orr_memory_kick_slow(proc);
}

/* A buffer shaped like h's for an interface structure that is no replicate (scratch), and its end.
 * Without locks. The first returns 0, or -ENOMEM if there is no room at once. */
int orr_memory_scratch(starpu_data_handle_t h, void *iface, unsigned memnode);
void orr_memory_scratch_end(starpu_data_handle_t h, void *iface, unsigned memnode);

/* Further fields of a replicate that is on a managed memory, or that a request waits for. */
struct orr_repl_ext {
	struct orr_fetch *waiters; /* requests that wait until it is loaded */
	starpu_data_handle_t handle;
	struct orr_replicate *self;
	struct orr_repl_ext *lru_prev, *lru_next; /* in the memory node's list */
	size_t bytes;                             /* of its buffer, as the interface reported */
	unsigned stamp;                           /* of the last search for victims that tried it */
};

/* The bookkeeping of r, created when missing; NULL if memory is exhausted. Under the handle's lock.
 */
struct orr_repl_ext *orr_replicate_ext(struct orr_replicate *r);

#endif
