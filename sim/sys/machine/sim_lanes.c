/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies under way (sim_lanes.h), from one change to the next: the end of a latency, or of a copy.
 *
 * Invariant: the copies that are active are those that come first at all of their engines; the link
 * never carries more than its capacity. */
#include "machine/sim_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "starpu.h"
#include "base/assert.h"
#include "base/map.h"

struct copy {
	uint64_t key; /* of its number */
	struct orr_sim_load
		of; /* latency_us, 0 when it has passed; bytes that are left at since_us */
	struct copy *next[2]; /* of its engines */
	struct copy *next_active;
	int active;
	double since_us, rate;
	double end_us;   /* of its latency, or of its bytes if nothing changes */
	double alone_us; /* that it takes without others */
	double bound_us; /* it is not over before */
};

/* The copies that an engine has to do. */
struct engine {
	struct copy *first, *last;
};

struct orr_sim_lanes {
	double capacity[2];
	double now_us;
	struct copy *active;
	uint64_t number;
	struct orr_map copies;
	struct engine engine[2][STARPU_MAXNODES];
};

struct orr_sim_lanes *orr_sim_lanes_new(const double capacity[2])
{
	struct orr_sim_lanes *l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	memcpy(l->capacity, capacity, sizeof(l->capacity));
	orr_map_init(&l->copies, offsetof(struct copy, key));
	return l;
}

static void copies_free(struct orr_map *m)
{
	for (uint32_t i = 0; i < m->cap; i++)
		free(orr_map_at(m, i));
	orr_map_exit(m);
}

void orr_sim_lanes_free(struct orr_sim_lanes *l)
{
	if (!l)
		return;
	copies_free(&l->copies);
	free(l);
}

/* ---- the link ---- */

static int on_link(const struct copy *c, int direction)
{
	return c->of.link == direction && !(c->of.latency_us > 0);
}

/* The share of a copy that wants as much as it can get: those that want less leave the rest to it.
 */
static double share(const struct orr_sim_lanes *l, const struct copy *active, int direction)
{
	double wanting = 0, share = 0, before;
	for (const struct copy *c = active; c; c = c->next_active)
		wanting += on_link(c, direction);
	if (!(l->capacity[direction] > 0) || wanting < 1)
		return INFINITY;
	for (share = l->capacity[direction] / wanting, before = 0; share > before;) {
		double left = l->capacity[direction];
		before = share;
		wanting = 0;
		for (const struct copy *c = active; c; c = c->next_active) {
			if (!on_link(c, direction))
				continue;
			if (c->of.rate < before)
				left -= c->of.rate;
			else
				wanting++;
		}
		share = wanting > 0 ? left / wanting : before;
	}
	return share;
}

/* Others have come to the active copies, or gone. */
static void settle(const struct orr_sim_lanes *l, struct copy *active, double at_us)
{
	double shares[2] = { share(l, active, 0), share(l, active, 1) };
	for (struct copy *c = active; c; c = c->next_active) {
		if (c->of.latency_us > 0)
			continue;
		double rate = c->of.link < 0 ? c->of.rate : fmin(c->of.rate, shares[c->of.link]);
		if (rate == c->rate)
			continue;
		c->of.bytes = fmax(c->of.bytes - c->rate * (at_us - c->since_us), 0);
		c->since_us = at_us;
		c->rate = rate;
		c->end_us = at_us + c->of.bytes / rate;
	}
}

/* ---- from change to change ---- */

static struct copy *first_to_change(struct copy *active)
{
	struct copy *first = active;
	for (struct copy *c = active; c; c = c->next_active)
		if (c->end_us < first->end_us)
			first = c;
	return first;
}

/* Its latency has passed, or it is over: then returns 1. */
static int change(struct copy *c)
{
	if (!(c->of.latency_us > 0))
		return 1;
	c->of.latency_us = 0;
	c->since_us = c->end_us;
	return !(c->of.bytes > 0);
}

static void take_out(struct copy **active, const struct copy *c)
{
	while (*active != c)
		active = &(*active)->next_active;
	*active = c->next_active;
}

/* Begins with the copy if it comes first at all of its engines. */
static void begin(struct orr_sim_lanes *l, struct copy *c, double at_us)
{
	struct copy **end = &l->active;
	for (int e = ORR_SIM_OUT; e <= ORR_SIM_IN; e++)
		if (c->of.engine[e] >= 0 && l->engine[e][c->of.engine[e]].first != c)
			return;
	orr_assertf(!c->active, "a copy begins twice");
	while (*end)
		end = &(*end)->next_active;
	*end = c;
	c->active = 1;
	c->since_us = at_us;
	c->end_us = at_us + c->of.latency_us;
}

static void finish(struct orr_sim_lanes *l, struct copy *c)
{
	take_out(&l->active, c);
	for (int e = ORR_SIM_OUT; e <= ORR_SIM_IN; e++) {
		struct engine *engine = c->of.engine[e] < 0 ? NULL : &l->engine[e][c->of.engine[e]];
		if (!engine)
			continue;
		orr_assertf(engine->first == c, "an engine moves two copies at a time");
		engine->first = c->next[e];
	}
	for (int e = ORR_SIM_OUT; e <= ORR_SIM_IN; e++)
		if (c->next[e] && !c->next[e]->active)
			begin(l, c->next[e], c->end_us);
	orr_map_remove(&l->copies, c);
	free(c);
}

/* All that happens until then. */
static void run(struct orr_sim_lanes *l, double until_us)
{
	orr_assert(until_us >= l->now_us);
	for (struct copy *c; (c = first_to_change(l->active)) && c->end_us <= until_us;) {
		double at_us = c->end_us;
		if (change(c))
			finish(l, c);
		settle(l, l->active, at_us);
	}
	l->now_us = until_us;
}

/* The end of the active copy if no other begins. */
static double predict(const struct orr_sim_lanes *l, const struct copy *target)
{
	struct copy copies[2 * STARPU_MAXNODES], *active = NULL, **end = &active, *mine = NULL;
	unsigned n = 0;
	for (const struct copy *c = l->active; c; c = c->next_active) {
		orr_assert(n < 2 * STARPU_MAXNODES);
		copies[n] = *c;
		copies[n].next_active = NULL;
		if (c == target)
			mine = &copies[n];
		*end = &copies[n];
		end = &copies[n++].next_active;
	}
	orr_assert(mine);
	for (struct copy *c; (c = first_to_change(active));) {
		double at_us = c->end_us;
		if (change(c)) {
			if (c == mine)
				return at_us;
			take_out(&active, c);
		}
		settle(l, active, at_us);
	}
	return mine->end_us;
}

/* A time before which the copy is not over: those before it at its engines take theirs. */
static double bound(const struct orr_sim_lanes *l, const struct copy *c)
{
	double most_us = l->now_us;
	if (c->active)
		return predict(l, c);
	for (int e = ORR_SIM_OUT; e <= ORR_SIM_IN; e++) {
		double us = l->now_us;
		if (c->of.engine[e] < 0)
			continue;
		for (const struct copy *b = l->engine[e][c->of.engine[e]].first; b != c;
		     b = b->next[e])
			us = b->active ? predict(l, b) : us + b->alone_us;
		most_us = fmax(most_us, us);
	}
	return most_us + c->alone_us;
}

/* ---- for the outside ---- */

uint64_t orr_sim_lanes_add(struct orr_sim_lanes *l, double now_us, const struct orr_sim_load *load)
{
	struct copy *c = calloc(1, sizeof(*c));
	orr_assert(load->engine[ORR_SIM_OUT] >= 0 || load->engine[ORR_SIM_IN] >= 0);
	orr_assert(load->latency_us > 0 || load->bytes > 0);
	if (!c)
		return 0;
	run(l, now_us);
	c->of = *load;
	c->key = orr_mix64(++l->number);
	c->alone_us = load->latency_us + (load->bytes > 0 ? load->bytes / load->rate : 0);
	c->bound_us = now_us;
	if (orr_map_insert(&l->copies, c)) {
		free(c);
		return 0;
	}
	for (int e = ORR_SIM_OUT; e <= ORR_SIM_IN; e++) {
		struct engine *engine = load->engine[e] < 0 ? NULL : &l->engine[e][load->engine[e]];
		if (!engine)
			continue;
		if (engine->first) {
			c->bound_us = fmax(c->bound_us, engine->last->bound_us);
			engine->last->next[e] = c;
		} else {
			engine->first = c;
		}
		engine->last = c;
	}
	begin(l, c, now_us);
	settle(l, l->active, now_us);
	c->bound_us = c->active ? predict(l, c) : c->bound_us + c->alone_us;
	return l->number;
}

double orr_sim_lanes_end_us(struct orr_sim_lanes *l, double now_us, uint64_t number)
{
	run(l, now_us);
	struct copy *c = orr_map_find(&l->copies, orr_mix64(number));
	if (!c)
		return now_us;
	if (c->bound_us <= now_us)
		c->bound_us = bound(l, c);
	orr_assert(c->bound_us > now_us);
	return c->bound_us;
}
