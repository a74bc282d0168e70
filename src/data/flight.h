/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies that a device makes by itself while the threads of the runtime do something else.
 *
 * A back end whose copy returns -EAGAIN works on in the background. It says when to ask again
 * (chan->due_us), or rings by orr_flight_ring() when the copy is over, in any thread of its own.
 *
 * Invariant: a flight is in the list from orr_flight_begin() until one thread takes it out, which
 * then owns it. */
#ifndef ORR_DATA_FLIGHT_H
#define ORR_DATA_FLIGHT_H

#include "data/memnode.h"

struct orr_flight {
	struct orr_flight *next;
	struct orr_copy_channel chan;
	const struct orr_memnode_ops *ops; /* the back end's that made the copy */
	unsigned memnode; /* its memory: the group that serves it is rung at the end */
	const void *datum;
	uint8_t over; /* was tested, and need not be again; under proc->lock */
};

/* A copy is under way. Without locks. */
void orr_flight_begin(struct orr_process *proc, struct orr_flight *f);
/* Takes out those that are over. *due_us is the instant to ask again, negative: none is known.
 * Without locks. */
struct orr_flight *orr_flight_landed(struct orr_process *proc, double *due_us);
/* [waits] Takes out one of that datum (NULL: of any), and waits for its end. NULL: there is none.
 * Without locks. */
struct orr_flight *orr_flight_wait(struct orr_process *proc, const void *datum);

/* For back ends: a copy to or from that memory is over. Any thread, without locks. */
void orr_flight_ring(struct orr_process *proc, unsigned memnode);

/* [waits] Waits for the copies that were started on the channel. */
void orr_flight_settle(struct orr_process *proc, const struct orr_memnode_ops *ops,
		       struct orr_copy_channel *chan);

#endif
