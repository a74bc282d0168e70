/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies between main memory and devices that are under way at the same time: engines serve one
 * after the other, and the link to main memory is shared.
 *
 * A device has two engines, for what comes in and what goes out. Each serves its copies in the
 * order in which they were added. A copy first spends its latency. Then its bytes share the link
 * with those of other copies in that direction: equal parts, but none gets more than its own
 * bandwidth.
 *
 * Invariant: a copy that is added delays others, and never hastens them. So the end of a copy as it
 * is known at any time is not after the true one: who waits until then asks again. */
#ifndef ORR_SIM_LANES_H
#define ORR_SIM_LANES_H

#include <stdint.h>

enum { ORR_SIM_OUT, ORR_SIM_IN };

/* A copy to be added. Times in microseconds, sizes in bytes. */
struct orr_sim_load {
	int engine[2]; /* memory nodes of the devices that it leaves and comes to, -1: none; not
			  both */
	int link;      /* the direction in which it uses the shared link; -1: it does not */
	double latency_us;
	double bytes;
	double rate; /* bytes per microsecond that it has by itself */
};

struct orr_sim_lanes;

/* capacity: bytes per microsecond of the link in each direction, 0: without limit. NULL when memory
 * is exhausted. */
struct orr_sim_lanes *orr_sim_lanes_new(const double capacity[2]);
void orr_sim_lanes_free(struct orr_sim_lanes *l);
/* Adds a copy at that time, which is not before that of an earlier call. Returns its number, never
 * 0; 0 when memory is exhausted. */
uint64_t orr_sim_lanes_add(struct orr_sim_lanes *l, double now_us, const struct orr_sim_load *load);
/* The end of the copy of that number, as far as is known now; now_us if it is over. */
double orr_sim_lanes_end_us(struct orr_sim_lanes *l, double now_us, uint64_t number);

#endif
