/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests for data on a memory node.
 *
 * A request makes a datum usable with a mode on a memory node, and takes a reference on the
 * replicate there (orr_fetch_unref gives it back). It advances in the thread that made it, until it
 * has to wait for a copy under way, for a detour through main memory, or for memory.
 *
 * Invariant: a request is in one place only: with the thread that advances it, in the list of a
 * replicate that is loading, in data->starved, or owned by the request for main memory that it goes
 * through. */
#ifndef ORR_DATA_FETCH_H
#define ORR_DATA_FETCH_H

#include "data/handle.h"
#include "data/memory.h"

/* The steps of a request. Negative values: it is over, and holds no reference. */
enum orr_fetched {
	ORR_FETCH_READY = 0,    /* the datum is there and referenced */
	ORR_FETCH_LATER = 1,    /* done, starved or failed will be called, perhaps it has been */
	ORR_FETCH_STARVED = -1, /* memory is exhausted; only with `starved` */
	ORR_FETCH_FAILED = -2,  /* for good, after a message; `error` says why */
};

/* A request to use a datum on a memory node. The caller fills it in. */
struct orr_fetch {
	struct orr_fetch *next; /* in the list in which it waits */
	starpu_data_handle_t handle;
	uint8_t memnode;
	uint8_t pinned : 1; /* holds a reference on its replicate */
	uint8_t hop : 1; /* holds a reference on main memory's replicate, which it goes through */
	uint8_t resident : 1; /* takes no new memory: starves unless the buffers are there */
	uint8_t ahead : 1;    /* a prefetch */
	uint8_t moved : 1;    /* the value was not there, or room had to be made */
	uint8_t effort;       /* enum orr_effort */
	uint16_t mode;
	int prio;
	int error; /* of ORR_FETCH_FAILED: -errno */
	/* The three ends, called without locks by any thread, unless the request ends at once. */
	void (*done)(void *arg);
	void (*starved)(void *arg); /* there is no memory; NULL: the request waits for memory */
	void (*failed)(
		void *arg); /* it waited for memory in vain; NULL: that ends the program. If it is
			       set, the request does not wait for data that are merely acquired */
	void *arg;
	uint8_t *later; /* may be NULL; set if room is being made, so that a request which failed
			   for want of memory may succeed soon */
};

/* Makes a request; *rq is only read, but for rq->error and, unless it waits, rq->moved. Without
 * locks, any thread. */
enum orr_fetched orr_fetch_request(struct orr_fetch *rq);
/* The common request: waits for memory, and ends the program when there will never be any. Returns
 * ORR_FETCH_READY, _LATER (done(arg) will be called) or _FAILED. */
enum orr_fetched orr_fetch(starpu_data_handle_t h, unsigned memnode,
			   enum starpu_data_access_mode mode, int prio, void (*done)(void *arg),
			   void *arg);
/* [waits] The same, waiting until the datum is there. Returns 0 or -errno. */
int orr_fetch_wait(starpu_data_handle_t h, unsigned memnode, enum starpu_data_access_mode mode,
		   int prio);
/* Gives the reference back. Without locks, any thread. */
void orr_fetch_unref(starpu_data_handle_t h, unsigned memnode);

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
/* Advances the requests of a list again, once the thing that they waited for is over. Without
 * locks. */
void orr_fetch_resume(struct orr_fetch *waiters);
/* Retries the requests that wait for memory; the second, if a worker that waits as well gave
 * something back behind their last attempt. Without locks. */
void orr_fetch_retry_starved(struct orr_process *proc);
void orr_fetch_retry_again(struct orr_process *proc);

#endif
