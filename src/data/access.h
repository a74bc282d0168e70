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

#include "data/access_record.h"

/* The name of an access mode in messages, such as STARPU_RW|STARPU_COMMUTE; unknown bits are in
 * hexadecimal. Returns name. */
#define ORR_MODE_NAME 160
const char *orr_mode_name(unsigned mode, char name[ORR_MODE_NAME]);

/* Calls o->ops->proceed(o): at once, or, while another owner proceeds in this thread, after that
 * one and those that came before. An owner that ends lets others begin, which may end at once:
 * chains of them take no more of the stack than one of them. Called without locks. */
void orr_owner_proceed(struct orr_owner *o);
/* Lets the owners proceed that were left to the calling thread. Call it before the thread waits. */
void orr_owners_proceed(struct orr_thread *self);

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
/* While a trace is recorded: the cause that ended the last access which a comes after, if that is
 * over; else 0, as if the program had. Without locks; the owner cannot end meanwhile. */
uint64_t orr_access_comes_after(const struct orr_access *a);
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
