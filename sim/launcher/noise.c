/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decisions of the options of variability (sim/sys/sim_noise.h) before a run: the seed, the speeds
 * of nodes.
 *
 * Invariant: without these options no random number is drawn and nothing is set, so that a run is
 * the same as without this file. */
#include "launcher.h"
#include <stdio.h>
#include <stdlib.h>

void launcher_noise_read(const struct launcher_options *o)
{
	struct orr_sim_noise *v = &orr_sim.noise;
	v->kernels = o->noise_factor >= 0 ? o->noise_factor : v->unmeasured > 0 ? 1 : 0;
	if (o->seed_given) {
		char text[24];
		snprintf(text, sizeof(text), "%llu", (unsigned long long) v->seed);
		setenv("STARPU_RAND_SEED", text, 0);
	} else if (orr_sim_varies(v)) {
		v->seed = (uint64_t) launcher_variable_whole("STARPU_RAND_SEED", 0, UINT32_MAX, 0);
	}
}

double launcher_noise_slowness(int rank)
{
	const struct orr_sim_noise *v = &orr_sim.noise;
	return orr_sim_factor(orr_sim_random(v->seed, ORR_SIM_NODE, (uint64_t) rank, 0), v->nodes);
}
