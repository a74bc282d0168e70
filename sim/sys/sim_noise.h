/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Variability of a simulated run: durations of kernels, speeds of nodes and of their units, the
 * bandwidth of links. All off by default.
 *
 * Invariant: a random number is a function of the seed and of what it is for (rank and number of a
 * task, rank, rank and worker, name of a link and period); it does not depend on the order in which
 * the simulator asks, on the policy, or on other nodes. Every random factor has the mean 1. */
#ifndef ORR_SIM_NOISE_H
#define ORR_SIM_NOISE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_noise {
	uint64_t seed;
	double kernels;        /* times the measured deviation of kernels; 0: none */
	double unmeasured;     /* relative deviation of kernels of which none was measured */
	double nodes, workers; /* relative deviation of the factors that a node, a worker has for
				  the whole run */
	double load;           /* mean share of the bandwidth of links that others take */
	double period_us;      /* for so long a link keeps its share */
	double without_us;     /* out: simulated time of kernels whose deviation was not measured */
};

/* The uses of random numbers. */
enum orr_sim_stream {
	ORR_SIM_KERNEL = 1,
	ORR_SIM_NODE,
	ORR_SIM_WORKER,
	ORR_SIM_LINK,
	ORR_SIM_YIELD,
	ORR_SIM_TURN
};

/* 64 random bits: the function of the invariant, for entry (a, b) of a stream. */
uint64_t orr_sim_random(uint64_t seed, enum orr_sim_stream stream, uint64_t a, uint64_t b);
/* Positive, mean 1, standard deviation `deviation` (log-normal), from these bits. */
double orr_sim_factor(uint64_t bits, double deviation);

static inline int orr_sim_varies(const struct orr_sim_noise *v)
{
	return v->kernels > 0 || v->unmeasured > 0 || v->nodes > 0 || v->workers > 0 || v->load > 0;
}

/* The share of its bandwidth that a link has in a period. */
double orr_sim_link_share(const struct orr_sim_noise *v, uint64_t link, uint64_t period);

#ifdef __cplusplus
}
#endif
#endif
