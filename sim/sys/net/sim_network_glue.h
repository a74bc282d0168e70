/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests of the models of the network (sim_network.c) to SimGrid through its C++ interface
 * (sim_network_glue.cpp). Read by C and by C++, so that the compiler checks both sides of each
 * call.
 *
 * Invariant: only declarations that mean the same in both languages. */
#ifndef ORR_SIM_NETWORK_GLUE_H
#define ORR_SIM_NETWORK_GLUE_H

#include <stddef.h>
#include <simgrid/host.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_flow;

/* The route between two hosts; the links, by number, are valid until the next call. */
struct orr_sim_glue_path {
	const unsigned *links;
	unsigned n;
	double latency_s;
	double weight; /* what a link adds to the penalty of a message, times its bandwidth; 0:
			  equal shares */
	double most;   /* bytes per second that the protocol allows */
};
void orr_sim_glue_path(sg_host_t from, sg_host_t to, struct orr_sim_glue_path *path);
/* SMPI's options for messages by size. Lists that change nothing, as most runs have them, are known
 * by a bit once they were read. */
enum orr_sim_factor { ORR_SIM_BANDWIDTH, ORR_SIM_LATENCY };
enum orr_sim_overhead { ORR_SIM_SENDING, ORR_SIM_RECEIVING };
extern struct orr_sim_sizes {
	unsigned unit_factors, no_overheads; /* bits: 1 << kind */
	size_t eager_bytes;                  /* 1 + it; 0: not read yet */
} orr_sim_sizes;
double orr_sim_glue_factor_of(enum orr_sim_factor kind, double bytes);
double orr_sim_glue_overhead_of(enum orr_sim_overhead kind, double bytes);
size_t orr_sim_glue_read_eager_bytes(void);

/* SMPI's factor for messages of that many bytes. */
static inline double orr_sim_glue_factor(enum orr_sim_factor kind, double bytes)
{
	return orr_sim_sizes.unit_factors >> kind & 1 ? 1 : orr_sim_glue_factor_of(kind, bytes);
}

/* For so long, in seconds, SMPI keeps an actor that sends or has received so many bytes. */
static inline double orr_sim_glue_overhead_s(enum orr_sim_overhead kind, double bytes)
{
	return orr_sim_sizes.no_overheads >> kind & 1 ? 0 : orr_sim_glue_overhead_of(kind, bytes);
}

/* Messages of fewer bytes leave before their receive is posted. */
static inline size_t orr_sim_glue_eager_bytes(void)
{
	return orr_sim_sizes.eager_bytes ? orr_sim_sizes.eager_bytes - 1
					 : orr_sim_glue_read_eager_bytes();
}

/* The platform's name of the link of that number. */
const char *orr_sim_glue_link_name(unsigned i);
/* The rate of the link of that number in SimGrid's own model since its last event, in bytes per
 * second. */
double orr_sim_glue_link_rate(unsigned i);
/* Starts a message in SimGrid's own model; orr_sim_network_comm_ended(f) follows. Not from an
 * actor. */
void orr_sim_glue_comm_start(struct orr_sim_flow *f, sg_host_t from, sg_host_t to, size_t bytes);

/* sim_network.c: what sim_network_glue.cpp calls. A link that was not used before, numbered from 0
 * on; a change of its bandwidth; the end of a message. */
void orr_sim_network_link(unsigned i, double bytes_per_s, int shared, int is_limit);
void orr_sim_network_bandwidth(unsigned i, double bytes_per_s);
void orr_sim_network_comm_ended(struct orr_sim_flow *f);

#ifdef __cplusplus
}
#endif
#endif
