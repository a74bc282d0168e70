/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers that belong to one execution (STARPU_SCRATCH) or to one worker's contribution
 * (STARPU_REDUX). */
#ifndef ORR_DATA_SCRATCH_H
#define ORR_DATA_SCRATCH_H

#include "data/redux.h"

struct orr_fetch;
struct orr_owner;
struct orr_access;

/* Provides *iface for access a of a task on worker w. Returns 0 if it can be used, 1 if the datum
 * that rq now describes has to be fetched first (its reference is a->pinned), -EAGAIN if memory is
 * exhausted. Called by the thread of the worker's group. */
int orr_scratch_acquire(struct orr_access *a, const struct orr_contributor *w, void **iface,
			struct orr_fetch *rq);
/* The kernel on worker number `worker` is over, or does not begin: gives back the buffers of o's
 * accesses; ifaces has one entry per access. */
void orr_scratch_release(struct orr_owner *o, unsigned worker, void **ifaces);

#endif
