/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages that ranks pass on, and what a route looks like.
 *
 * A value that one rank sends to several travels along a tree. The message to a rank carries the
 * list of the ranks below it, so no rank needs to know the others: it finds its children by
 * splitting the list (orr_mpi_split). The envelope goes down at once; a large payload follows in
 * pieces, each of which is passed on as soon as it is here.
 *
 * Invariant: the first entry of a route is its receiver; the others are in the order in which the
 * rank that began wants them served. */
#ifndef ORR_MPI_RELAY_H
#define ORR_MPI_RELAY_H

#include "mpi/carry/layer.h"
#include "mpi/carry/route.h"
#include "mpi/carry/shape.h"

/* Entries in a route, at most, among that many ranks. */
static inline uint32_t orr_mpi_route_max(int size)
{
	return size < 3 ? 0 : size < ORR_MPI_ROUTE_MAX ? (uint32_t) size : ORR_MPI_ROUTE_MAX;
}

/* Payloads of fewer bytes travel behind their route: more than behind an envelope of one receiver,
 * because each rank of a tree would wait for the second message. */
static inline size_t orr_mpi_relay_eager(const struct orr_mpi *mpi)
{
	return 2 * mpi->set.eager_limit;
}

/* Bytes of the longest message with an envelope. */
static inline size_t orr_mpi_message_max(const struct orr_mpi *mpi)
{
	return sizeof(struct orr_mpi_envelope) + sizeof(struct orr_mpi_route) +
	       mpi->set.max_route * sizeof(struct orr_mpi_hop) + orr_mpi_relay_eager(mpi);
}

/* Sends the payload of `sends` (linked by link.next, one value, distinct ranks, at least two, in
 * the order in which they want to be served) along a tree, and completes them when it has left. */
void orr_mpi_relay_begin(struct orr_mpi *mpi, struct orr_mpi_req *sends, uint32_t n,
			 const struct orr_mpi_plan *plan);
/* The relay by which the value of that send is leaving this rank, where it began; NULL: none. */
struct orr_mpi_relay *orr_mpi_relay_of(const struct orr_mpi *mpi, const struct orr_mpi_req *req);
/* The sends, as above, join the relay. Returns 0 if they cannot: it goes in pieces, one of them
 * goes to a rank that it is still to serve, or they are too many. */
int orr_mpi_relay_join(struct orr_mpi *mpi, struct orr_mpi_relay *r, struct orr_mpi_req *sends,
		       uint32_t n);
/* It is a routed message's turn: passes it on and receives it. */
void orr_mpi_relay_in(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
		      const struct orr_mpi_route *route, const struct orr_mpi_hop *hops,
		      const char *payload, int via);
/* The plan of a reduction, as the receive for it gets it. */
struct orr_mpi_redux_plan {
	int32_t via;                /* the parent in the tree */
	struct orr_mpi_route route; /* its piece: the number of the reduction */
	struct orr_mpi_hop hops[];
};
/* Of a request to receive a plan: where it is to be found when the request is complete. */
struct orr_mpi_plan_awaited {
	struct orr_mpi_redux_plan *plan; /* allocated; the requester's */
};
/* Of a request to send one, whose receiver frees it. */
struct orr_mpi_plan_out {
	struct orr_mpi_route route;
	struct orr_mpi_hop hops[];
};
/* Sends the plan that a request carries to the ranks of its hops, along the tree that it describes;
 * ends the request. */
void orr_mpi_relay_send_plan(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* The receive has taken the value out of the relay's buffer. */
void orr_mpi_relay_taken(struct orr_mpi *mpi, struct orr_mpi_relay *r);
/* A message of a relay completed. */
void orr_mpi_relay_flight_done(struct orr_mpi *mpi, const struct orr_mpi_flight *f);
size_t orr_mpi_relay_piece_bytes(const struct orr_mpi_relay *r, uint32_t piece);

#endif
