/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What transfers and memory management keep for a replicate beyond the common fields, and requests
 * for data.
 *
 * Invariant: struct orr_repl_ext exists only for replicates that are on a managed memory, or that
 * somebody waits for. */
#ifndef ORR_DATA_TRANSFER_H
#define ORR_DATA_TRANSFER_H

#include "data/handle.h"
#include "data/memory.h"

/* A wish to use a datum on a memory node. Lives on the stack until it has to wait. */
struct orr_fetch {
	struct orr_fetch *next; /* in the list where it waits */
	starpu_data_handle_t handle;
	uint8_t memnode;
	uint8_t heap : 1;   /* waits, or waited: it is a copy on the heap */
	uint8_t pinned : 1; /* holds a reference on its replicate */
	uint8_t hop : 1; /* holds a reference on main memory's replicate, which it goes through */
	uint8_t effort;  /* enum orr_effort */
	uint16_t mode;
	int prio;
	void (*done)(void *arg);
	void (*starved)(void *arg); /* instead of done: there is no memory, and the reference was
				       given back. NULL: waits for memory */
	void (*failed)(void *arg); /* instead of done, when it waited for memory in vain; NULL: such
				    * an error ends the program. With it, data that others merely
				    * hold are not waited for */
	void *arg;
	uint8_t *later; /* set when room is being made for it: without memory now, it may have some
			   soon; may be NULL */
};

struct orr_repl_ext {
	struct orr_fetch *waiters; /* those who wait until it is loaded */
	starpu_data_handle_t handle;
	struct orr_replicate *self;
	struct orr_repl_ext *lru_prev, *lru_next; /* in the memory node's list */
	size_t bytes;                             /* of its buffer, as the interface reported */
	unsigned stamp;                           /* of the last search for victims that tried it */
};

/* The bookkeeping of r, created when missing; NULL when memory is exhausted. Under the handle's
 * lock. */
struct orr_repl_ext *orr_replicate_ext(struct orr_replicate *r);

/* orr_fetch in full: returns 0 when the datum is there, 1 when rq->done or rq->starved will be
 * called later, -EAGAIN when memory is exhausted and rq->starved was given, or another negative
 * errno after a message. */
int orr_fetch_request(struct orr_fetch *rq);
/* The common case, without lock: main memory is the only one that ever held the datum. Returns 1
 * when it is there and referenced. */
static inline int orr_fetch_quick(starpu_data_handle_t h, unsigned memnode, unsigned mode)
{
	if (memnode != STARPU_MAIN_RAM || ORR_ATOMIC_LOAD(&h->main.next) ||
	    ORR_ATOMIC_LOAD(&h->main.ext))
		return 0;
	if (!(mode & STARPU_W)) {
		if (ORR_ATOMIC_LOAD(&h->main.state) == ORR_INVALID)
			return 0;
	} else {
		if (!ORR_ATOMIC_LOAD(&h->main.allocated) ||
		    (h->main.state == ORR_INVALID && (mode & STARPU_R)))
			return 0;
		ORR_ATOMIC_STORE(&h->main.state, ORR_MODIFIED);
	}
	ORR_ATOMIC_ADD_RELAXED(&h->main.refcnt, 1);
	return 1;
}
/* Retries the requests that wait for memory. */
void orr_fetch_retry_starved(struct orr_process *proc);

/* Before dst gets a buffer to be copied to from src: gives it src's shape, which a task may have
 * changed (27.1). A buffer of the runtime's that became too small is freed. Under h->lock. */
void orr_transfer_shape(starpu_data_handle_t h, struct orr_replicate *src,
			struct orr_replicate *dst);
/* Starts copying the datum from src to dst, which has a buffer. Under h->lock, released for the
 * copy and taken again. Returns 0 when it is over, 1 when it ends later, or -errno after a message.
 * *waiters gets the requests to be retried by orr_fetch_resume, without lock. A copy that is made
 * to evict frees src's buffer at the end. */
int orr_transfer(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *src,
		 struct orr_replicate *dst, enum orr_copy_why why, struct orr_fetch **waiters);
void orr_fetch_resume(struct orr_fetch *waiters);
/* Under h->lock: no replicate is being written to by a transfer. */
int orr_transfer_loading(starpu_data_handle_t h);
/* The handle ends: waits for copies of it by other threads, ends those that only wait for their
 * time to pass. Without lock. */
void orr_transfer_forget(starpu_data_handle_t h);

/* Copies what was just written on `from` to the nodes of the handle's write-through mask. Never
 * waits. */
void orr_write_through(starpu_data_handle_t h, unsigned from);

#endif
