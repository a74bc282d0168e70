/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages on the network of the simulated platform, as the option --network models it: how long
 * each is on its way beside the others.
 *
 * maxmin: SimGrid's solver shares the links among the runtime's and the program's messages.
 * share:  a message gets the least of its fair shares on the links of its route; of a pair of
 *         ranks, those that MPI hands to its connection as a whole go one after the other.
 * queue:  a link serves whole messages in the order in which they were sent; a message goes on to
 *         the next link of its route as soon as its first byte is there.
 *
 * tcp:    two ranks have a connection that carries messages in their order; the first link of a
 *         route serves connections in turn, the others what comes first; a sender is told that its
 *         message is gone when the buffer of the connection has taken it.
 *
 * Invariant: memory and time depend on the pairs of ranks that talk and on the links that they use,
 * not on the number of ranks. */
#ifndef ORR_SIM_NETWORK_H
#define ORR_SIM_NETWORK_H

#include <stddef.h>
#include <stdint.h>
#include "actors/sim_event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_hop;
struct orr_sim_connection;

/* Two ranks of which the first sends to the second. */
struct orr_sim_pair {
	uint64_t key;
	int source, dest;
	void *first, *last; /* sim_native.c's: envelopes that have not been handed over, in order */
	struct orr_sim_flow *turn, *turn_last; /* share: whole messages; the first has links */
	double latency_s;                      /* of the route, without factors */
	double most;   /* bytes per second that the protocol allows (network/TCP-gamma) */
	double weight; /* of its messages on links that they share with others */
	uint32_t nlinks;
	unsigned *links;
	struct orr_sim_hop *spare; /* sim_link.h: blocks of hops that no message has, by `next` */
	struct orr_sim_connection *connection; /* tcp; NULL: nothing was sent yet */
};

/* A message on its way; embedded first in what it carries; all zero before its first use. */
struct orr_sim_flow {
	struct orr_sim_event event; /* first */
	struct orr_sim_pair *pair;
	uint64_t sent; /* its place among all messages, as orr_sim_event_order numbers them */
	void (*arrived)(struct orr_sim_flow *); /* called as events are */
	/* tcp: called once, or NULL: the sender's part is over, and the message still under way */
	void (*taken_over)(struct orr_sim_flow *);
	double left;                  /* share: bytes that have not arrived at since_s;
					 queue: all; tcp: handed over and not sent */
	double size, rest, latency_s; /* tcp: of all of it; not handed over yet */
	double rate;                  /* bytes per second from then on */
	double of_links;              /* share: that, without the factor */
	double since_s;               /* share; queue: it begins at its last link; tcp: it
					 was sent */
	double factor;                /* of the bandwidth, for messages of this size */
	struct orr_sim_hop *hops;     /* its places on the links of its route */
	double first_s, end_s; /* queue: at its first link, and all there; share: is_untold since */
	struct orr_sim_flow *before, *after; /* in the order of their sending: queue, all; share,
						`after` only, whole ones of the pair; tcp,
						`after` only, of the connection */
	uint8_t is_whole;                    /* share: handed to its connection as a whole */
	uint8_t is_untold; /* share: alone on its links, whose loads do not know of it yet */
	uint8_t is_begun, is_answered; /* tcp: its begin has left; its receiver answered */
	uint8_t is_out;                /* tcp: what was handed over first has left */
};

/* The pair of two ranks, made when they talk first. */
struct orr_sim_pair *orr_sim_network_pair(int source, int dest);
/* The route between two ranks as messages find it, SMPI's factors by size included. */
struct orr_sim_route {
	double latency_s;   /* of a message without bytes */
	double bytes_per_s; /* of a long one */
	double overhead_s;  /* of the processors, for one without bytes */
};
void orr_sim_network_route(int source, int dest, struct orr_sim_route *route);
/* The time that a message of so many bytes takes from a rank to itself, without others; negative:
 * the platform does not say. */
double orr_sim_network_to_itself_s(int rank, size_t bytes);
/* The time that a message of so many bytes takes on its way, without others. */
double orr_sim_network_alone_s(const struct orr_sim_pair *p, size_t bytes);
/* The message of so many bytes begins; it calls arrived once, later. */
void orr_sim_network_send(struct orr_sim_flow *f, size_t bytes);
/* True if a message is on its way. */
int orr_sim_network_busy(void);
/* share: the loads of links are told of all messages that are on them. */
void orr_sim_network_tell_loads(void);

#ifdef __cplusplus
}
#endif
#endif
