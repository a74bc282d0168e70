/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The doorbell of an engine on SMPI: the engine waits for its requests and one more, a zero-byte
 * receive, and whoever wants its attention sends to it. The ringer must be a child of the engine's
 * actor that has called MPI_Init (SMPI finds its rank through its parent); others ask the workers'
 * driver, which rings for them when it has its next turn (orr_sim_actor.ring_request).
 *
 * The receive is posted when the engine first sleeps and stays posted until rung; at most one ring
 * is in flight, and none is sent while the engine is awake. It is sent synchronously; its sender
 * looks after the request at the next ring.
 *
 * Measured: a ring that wakes the engine costs 10 to 17 us of wall time (as much as a message) and
 * 0.2 us of virtual time with a loopback of 100 ns; one that finds it awake 0.4 us with the
 * engine's extra turn.
 *
 * Invariant: while the engine sleeps or a ring is in flight, the receive is posted. */
#ifndef ORR_SIM_BELL_H
#define ORR_SIM_BELL_H

#include <mpi.h>
#include "base/seam.h"

struct orr_sim_actor;

struct orr_sim_bell {
	MPI_Comm comm;       /* MPI_COMM_SELF of the engine, an object that its children may use */
	MPI_Request request; /* of the receive */
	int sleeping;        /* the engine waits for it */
	int ringing;         /* a ring is in flight */
};

/* [waits] The receive is posted, unless it is already. Called by the engine. */
void orr_sim_bell_listen(struct orr_sim_bell *b);
/* [waits] The running actor rings, if it can, its engine sleeps, and nobody has rung yet. */
void orr_sim_bell_ring(struct orr_sim_actor *a);
/* [waits] The running actor ends: its last ring must have been taken before. */
void orr_sim_bell_ended(struct orr_sim_actor *a);

#endif
