/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Links of the network, as its models share and fill them: sim_network.c has `share`, sim_queue.c
 * has `queue`, sim_tcp.c has `tcp`.
 *
 * Invariant: bytes_per_s is the link's present bandwidth; what a model has planned for messages
 * under way follows each change of it. */
#ifndef ORR_SIM_LINK_H
#define ORR_SIM_LINK_H

#include <stdint.h>
#include "net/sim_load.h"
#include "net/sim_network.h"

#define ORR_SIM_HEADER 16 /* bytes that SMPI adds to each message */

/* A message on a link. */
struct orr_sim_hop {
	struct orr_sim_hop *next, **at; /* share */
	struct orr_sim_flow *flow;      /* share */
	double begin_s, end_s;          /* queue: the link serves it then */
	unsigned channel;               /* queue: of the link */
};

struct orr_sim_link {
	double bytes_per_s;
	int shared;                /* by its messages; else each has all of it */
	int is_limit;              /* of both directions of a host together */
	double weight;             /* share: of all messages on it */
	double level;              /* share: bytes per second for each unit of weight */
	uint64_t mark;             /* share: the last change that its level is right for */
	struct orr_sim_link *next; /* share: to be corrected */
	struct orr_sim_hop *hops;  /* share: the messages */
	double *free_s; /* queue: when each channel has served all that it was given; NULL: now */
	double planned; /* queue: the bandwidth that the plan is for; 0: there is none */
	struct orr_sim_port *port; /* tcp; NULL: it has served nobody */
	struct orr_sim_load *load; /* sim_load.h; NULL: nobody wants to know, or it had none */
};

/* The link of that number, valid until another one is made. */
struct orr_sim_link *orr_sim_link(unsigned i);
unsigned orr_sim_link_number(const struct orr_sim_link *l);
/* Room for the places of a message of that pair on its links, and back; uninitialised. */
struct orr_sim_hop *orr_sim_hops_take(struct orr_sim_pair *p);
void orr_sim_hops_give(struct orr_sim_pair *p, struct orr_sim_hop *hops);
/* The last byte is there at that time: the message arrives at the next tick. */
void orr_sim_network_arrive_after(struct orr_sim_flow *f, double date_s);
/* The message arrives: called as events are. */
void orr_sim_network_arrive(struct orr_sim_event *e);

/* sim_queue.c */
/* Sends a message of f->left bytes, the first of which is at its first link at that time. */
void orr_sim_queue_send(struct orr_sim_flow *f, double first_s);
/* A link has another bandwidth from now on. */
void orr_sim_queue_changed(void);

/* sim_tcp.c */
/* Sends a message of f->left bytes, which arrives that much after its last byte. */
void orr_sim_tcp_send(struct orr_sim_flow *f, double latency_s);
/* The link has another bandwidth from now on. */
void orr_sim_tcp_changed(struct orr_sim_link *l);

#endif
