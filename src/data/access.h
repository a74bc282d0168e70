/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Accesses to data: who may use a datum, and when.
 *
 * An access goes through two phases. First its *turn*: each handle has one queue of accesses in
 * submission order (sequential consistency), and gives turns in groups: one writer, or all
 * consecutive readers, or all consecutive commuting writers, or all consecutive contributions
 * (STARPU_REDUX). Accesses that have their turn are only counted; those that wait for it are
 * linked. Accesses outside of sequential consistency skip this phase. Then *holding*: when
 * everything else that a task waits for is there, it holds all its data at once or none (nobody
 * holds one while waiting for another, so that there is no deadlock whatever the order). A turn
 * excludes only the accesses behind it in the queue: a task that has its turn and waits for
 * something else holds up no other task. A task that finds everything there when it is submitted,
 * or when its only access has its turn, begins to hold at once.
 *
 * Invariant: a handle is held by one writer or by any number of readers at a time.
 *
 * Three kinds of users may touch a handle. (1) Accesses that hold it, have their turn or stand in
 * its queue: the end of the handle stands behind them in the queue. (2) Users that pinned it
 * (orr_handle_pin): accesses outside of the order, and work in the background. (3) Threads that
 * find it in a list (a memory node's LRU list, its prefetches) under that list's lock, and from
 * there under the handle's lock: the end takes the handle off these lists first. The handle ends
 * when the closing access had its turn and the last pin is gone. */
#ifndef ORR_DATA_ACCESS_H
#define ORR_DATA_ACCESS_H

#include "base/process.h"

struct orr_owner;

/* The name of an access mode in messages, such as STARPU_RW|STARPU_COMMUTE; unknown bits are in
 * hexadecimal. Returns name. */
#define ORR_MODE_NAME 160
const char *orr_mode_name(unsigned mode, char name[ORR_MODE_NAME]);

/* One access of an owner to one datum. */
struct orr_access {
	struct orr_access *next; /* in the handle's queue of waiting accesses, or among its parked
				    ones */
	starpu_data_handle_t handle;
	struct orr_owner *owner;
	uint16_t mode;       /* enum starpu_data_access_mode */
	uint8_t ordered : 1; /* takes part in sequential consistency */
	uint8_t granted : 1; /* phase one: its turn has come */
	uint8_t locked : 1;  /* phase two: holds the datum */
	uint8_t merged : 1;  /* the same handle stands earlier in the owner's list with a mode that
				covers this one */
	int8_t node;         /* memory node where the data is wanted, -1 until known */
	uint8_t pinned : 1;  /* the replicate on `node` has been referenced */
	uint8_t scratch : 1; /* the interface is the owner's own, or its worker's contribution */
};

/* The functions of an owner that are called when its accesses advance. They are called without
 * locks, by any thread, and must not block. */
struct orr_owner_ops {
	/* One of its accesses has its turn, say: the owner waits for one thing fewer. */
	void (*turn)(struct orr_owner *o);
	/* It was parked, and now holds all its data. */
	void (*held)(struct orr_owner *o);
	/* Goes on after orr_owner_proceed. Unlike the others it may run callbacks of the program.
	 */
	void (*proceed)(struct orr_owner *o);
	/* Its name in messages, valid for as long as the owner. */
	const char *(*name)(const struct orr_owner *o);
};

/* An owner of accesses: a task (core), or an acquisition. Embedded in it. */
struct orr_owner {
	const struct orr_owner_ops *ops;
	struct orr_access *access; /* naccess of them, the owner's */
	uint32_t naccess;
	int32_t ndeps;      /* atomic: what it waits for: turns of its accesses, and things of its
			       own */
	uint32_t nprefetch; /* atomic: prefetches for it, queued or under way; it does not begin to
			       use its data before they ended */
	uint8_t held;       /* holds all its data, or has none */
	uint8_t parked;     /* it waits, because another owner holds one of its data */
	struct orr_owner *next; /* in the list of those that proceed later (struct orr_thread) */
};

/* Calls o->ops->proceed(o): at once, or, while another owner proceeds in this thread, after that
 * one and those that came before. An owner that ends lets others begin, which may end at once:
 * chains of them take no more of the stack than one of them. Called without locks. */
void orr_owner_proceed(struct orr_owner *o);
/* Lets the owners proceed that were left to the calling thread. Call it before the thread waits. */
void orr_owners_proceed(struct orr_thread *self);

static inline const char *orr_owner_name(const struct orr_owner *o)
{
	return o->ops->name(o);
}

/* An acquisition outside of tasks (starpu_data_acquire*, MPI requests, unregistration). Owned and
 * embedded by the caller; must stay put until released. */
struct orr_acquire {
	struct orr_owner owner; /* first */
	struct orr_access access;
	void (*granted)(
		struct orr_acquire *); /* called once, when the datum is available on access.node:
					* in the calling thread before orr_acquire_start returns, or
					* later in any thread; must not block */
	void *arg;                     /* the caller's */
	int prio;
	int status; /* when granted: 0, or with may_fail -errno: the datum cannot be brought to the
		       node */
	uint8_t in_turn;  /* granted is called by orr_owner_proceed: it runs a callback of the
			     program */
	uint8_t may_fail; /* the caller checks status; otherwise such an error ends the program */
	uint8_t pins;     /* it pins the handle until it is released */
	uint8_t chooses;  /* the caller's: proc->data->choose_node names the memory node when it
			     holds the datum, instead of the one that it was started with */
};

/* Starts an acquisition of handle with mode on memory node `node` (-1: no data movement, only the
 * ordering). sequential: takes part in sequential consistency (subject to the handle's flag). Calls
 * a->granted when done. Never waits. Returns 0, or -EINVAL after a message. prio orders the
 * transfers. */
int orr_acquire_start(struct orr_acquire *a, starpu_data_handle_t handle, int node,
		      enum starpu_data_access_mode mode, int sequential, int prio,
		      void (*granted)(struct orr_acquire *));
/* [waits] orr_acquire_start in the order, and until it is granted: a->status says how. Not inside
 * tasks. */
int orr_acquire_wait(struct orr_acquire *a, starpu_data_handle_t handle, int node,
		     enum starpu_data_access_mode mode);
/* Like orr_acquire_start when it would be granted at once, otherwise does nothing and returns
 * -EAGAIN. Views of partitioned data are not checked. It waits for a transfer only where the caller
 * may wait; inside a task it returns -EAGAIN instead. */
int orr_acquire_try(struct orr_acquire *a, starpu_data_handle_t handle, int node,
		    enum starpu_data_access_mode mode);
/* Adds `a` as a reader of a datum that the caller already holds. It keeps its access after the
 * caller releases the datum: nobody writes until it is released. */
void orr_acquire_inherit(struct orr_acquire *a, starpu_data_handle_t handle);
/* The same for the holder `from` of the datum in main memory, whose buffer stays there too. */
void orr_acquire_share(struct orr_acquire *a, const struct orr_acquire *from);
/* Ends it: the next accesses are granted (their tasks may be pushed from here). May be called by
 * any thread. Never waits. */
void orr_acquire_release(struct orr_acquire *a);
/* Keeps the datum with fewer rights: from RW to R lets readers in. down_to: STARPU_R, STARPU_W,
 * STARPU_RW or STARPU_NONE (as release). */
void orr_acquire_downgrade(struct orr_acquire *a, enum starpu_data_access_mode down_to);

/* Enqueues all accesses of an owner whose handles, modes and `ordered` the caller filled in; they
 * must be zero otherwise (adds to o->ndeps for those whose turn has not come). The owner's own
 * submission must still count in ndeps. */
void orr_access_submit(struct orr_owner *o);
/* The owner waits for nothing but its data. Returns 1 if it holds all of them, 0 if it was parked:
 * ops->held is called later. */
int orr_access_lock(struct orr_owner *o);
/* Ends all accesses of an owner. */
void orr_access_release(struct orr_owner *o);
/* Calls f for the owners that wait for the turns of o: those that come directly behind it in the
 * queues of its data. f is called under a datum's lock, in the order of o's data, once for each
 * datum. */
void orr_access_successors(const struct orr_owner *o, void (*f)(struct orr_owner *, void *),
			   void *arg);
/* Grants the accesses that may be granted now. Call it after a change outside of the queue, such as
 * the end of a reduction. */
void orr_access_regrant(starpu_data_handle_t h);

/* redux.c. Under h->lock: must an access of that class (an enum orr_class) wait for contributions
 * to be reduced first? */
int orr_redux_blocks(starpu_data_handle_t h, int access_class);
/* Under h->lock: when the contributing group is over and somebody waits, reserves the reduction,
 * which the caller then runs without the lock; else NULL. */
struct orr_redux;
struct orr_redux *orr_redux_start(starpu_data_handle_t h);
void orr_redux_run(struct orr_redux *r);

#endif
