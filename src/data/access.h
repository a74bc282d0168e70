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
 * excludes nobody but those behind it in the queue: a task that has its turn and waits for
 * something else is in nobody's way. A task that finds everything there when it is submitted, or
 * when its only access has its turn, begins to hold in the same breath.
 *
 * Invariant: a handle is held by one writer or by any number of readers at a time.
 *
 * Who may touch a handle: (1) those who hold it, have their turn or stand in its queue, since its
 * end stands behind them in the queue; (2) those who pinned it (orr_handle_pin): accesses outside
 * of the order, and whoever uses it in the background; (3) those who find it in a list (a memory
 * node's LRU list, its prefetches) under that list's lock, and from there under the handle's lock,
 * since its end takes it off these lists first. Nobody else. The end is when the closing access had
 * its turn and the last pin is gone. */
#ifndef ORR_DATA_ACCESS_H
#define ORR_DATA_ACCESS_H

#include "core/task.h"

/* An acquisition outside of tasks (starpu_data_acquire*, MPI requests, unregistration). Owned and
 * embedded by the caller; must stay put until released. */
struct orr_acquire {
	struct orr_access access;
	void (*granted)(
		struct orr_acquire *); /* called once, when the datum is available on access.node:
					* in the calling thread before orr_acquire_start returns, or
					* later in any thread; must not block */
	void *arg;                     /* the caller's */
	int prio;
	int status; /* when granted: 0, or with may_fail -errno: the datum cannot be brought to the
		       node */
	int may_fail; /* the caller looks at status; else such an error ends the program */
	int pins;     /* it pins the handle until it is released */
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
/* Whoever holds the datum makes a a further holder, for reading, that stays when he is gone: nobody
 * writes until it is released. */
void orr_acquire_inherit(struct orr_acquire *a, starpu_data_handle_t handle);
/* Ends it: the next accesses are granted (their tasks may be pushed from here). May be called by
 * any thread. Never waits. */
void orr_acquire_release(struct orr_acquire *a);
/* Keeps the datum with fewer rights: RW -> R lets readers in. down_to: STARPU_R, STARPU_W,
 * STARPU_RW or STARPU_NONE (as release). */
void orr_acquire_downgrade(struct orr_acquire *a, enum starpu_data_access_mode down_to);

/* Tasks: memory for the accesses of a task, before anybody hears of its submission. Returns 0, or
 * -ENOMEM after a message. */
int orr_access_reserve(struct orr_task *t);
/* Enqueues all accesses of a task being submitted (adds to t->ndeps for those whose turn has not
 * come). nodeps: outside of sequential consistency. */
void orr_access_submit(struct orr_task *t, int nodeps);
/* Everything else is there. Returns 1 when the task holds all its data, 0 when it was parked and
 * will come back through orr_task_held. */
int orr_access_lock(struct orr_task *t);
/* Grants what may be granted now (after something outside of the queue changed, such as the end of
 * a reduction). */
void orr_access_regrant(starpu_data_handle_t h);

/* redux.c. Under h->lock: must an access of that class (an enum orr_class) wait for contributions
 * to be reduced first? */
int orr_redux_blocks(starpu_data_handle_t h, int access_class);
/* Under h->lock: when the contributing group is over and somebody waits, reserves the reduction,
 * which the caller then runs without the lock; else NULL. */
struct orr_redux;
struct orr_redux *orr_redux_start(starpu_data_handle_t h);
void orr_redux_run(struct orr_redux *r);
/* Ends all accesses of a task. */
void orr_access_release(struct orr_task *t);

#endif
