/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages that ranks pass on: what a route looks like, and what transfer.c and relay.c share.
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

#include "mpi/mpi.h"

/* Behind the envelope, followed by n entries, followed by the payload when eager. */
struct orr_mpi_route {
	int32_t origin; /* the rank that began, as the engine's world numbers it */
	uint16_t n;     /* entries, this receiver first; at most ORR_MPI_ROUTE_MAX */
	uint16_t arity; /* children of a rank; 0: a binomial tree; more: orr_mpi_split says */
	uint64_t piece; /* bytes of a piece of the payload */
};

struct orr_mpi_hop {
	int32_t rank;
	uint32_t seq; /* number of the message between the origin and this rank */
};

#define ORR_MPI_ROUTE_MAX 1024

/* Entries in a route, at most, among that many ranks. */
static inline uint32_t orr_mpi_route_max(int size)
{
	return size < 3 ? 0 : size < ORR_MPI_ROUTE_MAX ? (uint32_t) size : ORR_MPI_ROUTE_MAX;
}

/* Payloads of fewer bytes travel behind their route: more than behind an envelope of one receiver,
 * because each rank of a tree would wait for the second message. */
static inline size_t orr_mpi_relay_eager(const struct orr_mpi *mpi)
{
	return 2 * mpi->eager_limit;
}

/* Bytes of the longest message with an envelope. */
static inline size_t orr_mpi_message_max(const struct orr_mpi *mpi)
{
	return sizeof(struct orr_mpi_envelope) + sizeof(struct orr_mpi_route) +
	       mpi->max_route * sizeof(struct orr_mpi_hop) + orr_mpi_relay_eager(mpi);
}

/* Of n ranks below one in the tree, how many does its next child take, itself included? */
uint32_t orr_mpi_split(uint32_t n, uint32_t arity, uint32_t children_left);
/* Children of a rank with n ranks below it. */
uint32_t orr_mpi_nchildren(uint32_t n, uint32_t arity);

/* The way of a value, made by the rank that sends it to n others. */
struct orr_mpi_plan {
	int tree; /* 0: to each by itself */
	uint32_t arity;
	size_t piece;
};
/* shape.c */
/* idle: nothing else leaves this rank just now. */
struct orr_mpi_plan orr_mpi_plan(const struct orr_mpi_network *net, size_t bytes, uint32_t n,
				 size_t eager_limit, int idle);
/* The time of so many bytes at full bandwidth. */
double orr_mpi_bytes_us(const struct orr_mpi_network *net, size_t bytes);
/* For so long a send may wait for others of the same value; 0: not at all. */
double orr_mpi_moment_us(const struct orr_mpi_network *net, size_t bytes);
/* So many bytes under way keep the network busy until the sender knows that some have arrived. */
size_t orr_mpi_window(const struct orr_mpi_network *net);

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
/* Sends the plan to the ranks of hops along the tree that it describes. */
void orr_mpi_relay_plan(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
			struct orr_mpi_route *route, struct orr_mpi_hop *hops);
/* The receive has taken the value out of the relay's buffer. */
void orr_mpi_relay_taken(struct orr_mpi *mpi, struct orr_mpi_relay *r);
/* A message of a relay completed. */
void orr_mpi_relay_flight_done(struct orr_mpi *mpi, const struct orr_mpi_flight *f);
size_t orr_mpi_relay_piece_bytes(const struct orr_mpi_relay *r, uint32_t piece);

/* transfer.c, for relays */
/* Enters a message; returns the receive that takes it now, or NULL after keeping it as *kept. */
struct orr_mpi_req *orr_mpi_take(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
				 int source, struct orr_mpi_early **kept);
/* Describes the datum to receive into and checks its size. */
void orr_mpi_describe_receive(struct orr_mpi *mpi, struct orr_mpi_req *req,
			      const struct orr_mpi_envelope *env, int source,
			      struct orr_mpi_payload *p);
/* Puts a payload that lies in a buffer into the datum and completes the receive; takes the buffer
 * when `owned`. */
void orr_mpi_deliver(struct orr_mpi *mpi, struct orr_mpi_req *req,
		     const struct orr_mpi_envelope *env, int source, void *buf, int owned);
/* The payload of a kept message is here now. */
void orr_mpi_payload_here(struct orr_mpi *mpi, struct orr_mpi_early *e);
/* The first of n consecutive numbers that no payload under way has, and the tag of one of them. */
int orr_mpi_next_data_tags(struct orr_mpi *mpi, uint32_t n);
int orr_mpi_data_tag(const struct orr_mpi *mpi, int first, uint32_t i);
void orr_mpi_free_buffer(void *buf, size_t size);

#endif
