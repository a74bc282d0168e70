/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of variability (sim/sys/sim_noise.h), and what of it is decided before a run: speeds
 * of nodes, shares of links.
 *
 * Invariant: without these options nothing is drawn and nothing is set, so that a run is what it
 * was without this file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "launcher.h"

#define NOTHING (-1.0)

static double factor = NOTHING; /* as given */
static int seed_given;

static double number(const char *name, const char *value, double max, const char *what)
{
	char *end;
	double v = strtod(value, &end);
	if (end == value || *end || !(v >= 0 && v <= max))
		launcher_fail("%s %s: expected %s between 0 and %g", name, value, what, max);
	return v;
}

static double share(const char *name, const char *value, double max)
{
	return number(name, value, max, "a percentage") / 100;
}

static uint64_t seed(const char *name, const char *value)
{
	char *end;
	unsigned long v = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || v > UINT32_MAX)
		launcher_fail("%s %s: expected a whole number between 0 and %u", name, value,
			      UINT32_MAX);
	return v;
}

int launcher_noise_option(const char *name, const char *value)
{
	struct orr_sim_noise *v = &orr_sim.noise;
	if (!strcmp(name, "--noise"))
		factor = number(name, value, 1000, "a factor");
	else if (!strcmp(name, "--noise-default"))
		v->unmeasured = share(name, value, 1000);
	else if (!strcmp(name, "--speed-spread"))
		v->nodes = share(name, value, 1000);
	else if (!strcmp(name, "--worker-spread"))
		v->workers = share(name, value, 1000);
	else if (!strcmp(name, "--background-load"))
		v->load = share(name, value, 90);
	else if (!strcmp(name, "--background-period"))
		v->period_us = number(name, value, 1e12, "a number of microseconds");
	else if (!strcmp(name, "--seed")) {
		v->seed = seed(name, value);
		seed_given = 1;
	} else
		return 0;
	return 1;
}

void launcher_noise_read(void)
{
	struct orr_sim_noise *v = &orr_sim.noise;
	const char *runtime = getenv("STARPU_RAND_SEED");
	char text[24];
	v->kernels = factor >= 0 ? factor : v->unmeasured > 0 ? 1 : 0;
	if (!(v->period_us > 0))
		launcher_fail("--background-period 0: expected more than 0 microseconds");
	if (!seed_given && runtime && *runtime && orr_sim_varies(v)) {
		v->seed = seed("STARPU_RAND_SEED", runtime);
	} else if (seed_given) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long) v->seed);
		setenv("STARPU_RAND_SEED", text, 0);
	}
}

double launcher_noise_slowness(int rank)
{
	const struct orr_sim_noise *v = &orr_sim.noise;
	return orr_sim_factor(orr_sim_random(v->seed, ORR_SIM_NODE, (uint64_t) rank, 0), v->nodes);
}
