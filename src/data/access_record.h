/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Accesses, their owners, and acquisitions, as records (access.h).
 *
 * Invariant: stated in access.h. */
#ifndef ORR_DATA_ACCESS_RECORD_H
#define ORR_DATA_ACCESS_RECORD_H

#include "base/process.h"

struct orr_owner;

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

#endif
