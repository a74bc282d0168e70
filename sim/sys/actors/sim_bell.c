/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rings, and the receive that they are for (sim_bell.h).
 *
 * Invariant: stated in sim_bell.h. */
#include "actors/sim_bell.h"

#include "actors/sim_actor.h"
#include "actors/sim_rank.h"
#include "base/assert.h"

#define BELL_TAG 32766

void orr_sim_bell_listen(struct orr_sim_bell *b)
{
	if (b->request == MPI_REQUEST_NULL)
		PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, BELL_TAG, b->comm, &b->request);
}

/* The last ring of this actor was taken: lets go of its request. */
static void end_ring(struct orr_sim_actor *a)
{
	ORR_SIM_AS_ITSELF;
	MPI_Request out = a->bell_out;
	if (!out)
		return;
	a->bell_out = NULL;
	PMPI_Wait(&out, MPI_STATUS_IGNORE);
}

void orr_sim_bell_ring(struct orr_sim_actor *a)
{
	ORR_SIM_AS_ITSELF;
	struct orr_sim_bell *b = a->rank->bell;
	if (!b || b->ringing || !b->sleeping || !a->mpi)
		return;
	b->ringing = 1;
	end_ring(a);
	orr_assertf(b->request != MPI_REQUEST_NULL, "a ring without a receive for it");
	MPI_Request out;
	orr_sim_yield();
	PMPI_Issend(NULL, 0, MPI_BYTE, 0, BELL_TAG, b->comm, &out);
	a->bell_out = out;
}

void orr_sim_bell_ended(struct orr_sim_actor *a)
{
	if (!a->can_ring || !a->mpi)
		return;
	while (a->rank->bell && a->rank->bell->ringing)
		orr_sys_sleep_us(1);
	end_ring(a);
}
