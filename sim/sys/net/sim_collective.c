/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Barriers and sums over all ranks (sim_collective.h).
 *
 * Invariant: at most one collective has not been entered by all ranks; the last rank that leaves
 * one frees it. */
#include "net/sim_collective.h"

#include <errno.h>
#include <stdlib.h>
#include "actors/sim_event.h"
#include "actors/sim_rank.h"
#include "net/sim_network_glue.h"
#include "sim_clock.h"
#include "base/assert.h"

#define SHORT 64 /* bytes of a message */

struct collective {
	struct orr_sim_event end; /* first */
	orr_waitq_t ended;
	int entered, left, over, n;
	uint64_t sums[];
};

static struct collective *present;

/* A short message between two ranks that are far from each other in most platforms. */
static double message_s(void)
{
	struct orr_sim_glue_path path;
	int far = orr_sim.nranks / 2;
	orr_sim_glue_path(orr_sim.ranks[0].host, orr_sim.ranks[far].host, &path);
	return path.latency_s * orr_sim_glue_factor(ORR_SIM_LATENCY, SHORT) +
	       orr_sim_glue_overhead_s(ORR_SIM_SENDING, SHORT) +
	       orr_sim_glue_overhead_s(ORR_SIM_RECEIVING, SHORT);
}

static void end(struct orr_sim_event *e)
{
	struct collective *c = (struct collective *) e;
	c->over = 1;
	orr_waitq_wake(&c->ended);
}

static void last_entered(struct collective *c)
{
	int rounds = 0;
	while (1 << rounds < orr_sim.nranks)
		rounds++;
	present = NULL;
	c->end.fire = end;
	orr_sim_event_set(&c->end, orr_sim_clock_s() + (rounds ? rounds * message_s() : 0));
}

static void await(struct collective *c)
{
	while (!c->over) {
		unsigned key = orr_waitq_prepare(&c->ended);
		if (c->over)
			orr_waitq_cancel(&c->ended);
		else
			orr_waitq_wait(&c->ended, key, -1);
	}
}

int orr_sim_collective_sum(const uint64_t *mine, uint64_t *sums, int n)
{
	struct collective *c = present;
	if (!c) {
		c = calloc(1, sizeof(*c) + (size_t) n * sizeof(*c->sums));
		if (!c)
			return -ENOMEM;
		c->n = n;
		present = c;
	}
	orr_assertf(c->n == n, "a rank sums %d numbers and another one %d", c->n, n);
	for (int i = 0; i < n; i++)
		c->sums[i] += mine[i];
	if (++c->entered == orr_sim.nranks)
		last_entered(c);
	await(c);
	for (int i = 0; i < n; i++)
		sums[i] = c->sums[i];
	if (++c->left == orr_sim.nranks)
		free(c);
	return 0;
}
