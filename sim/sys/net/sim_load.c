/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The load of links over time (see sim_load.h).
 *
 * Each link has BINS stretches of one length from the begin of the run on. When the run is longer
 * than that, two of them become one, for all links at once.
 *
 * Invariant: the stretches of a link add up to all that it was told. */
#include "net/sim_load.h"

#include <math.h>
#include <stdlib.h>
#include "actors/sim_rank.h"
#include "net/sim_link.h"
#include "net/sim_network_glue.h"
#include "sim_clock.h"
#include "base/log.h"
#include "base/seam.h"

#define BINS 64
#define FIRST_S 1e-6 /* length of a stretch at first */
#define FULL 0.95    /* of the bandwidth: a link that gives so much is full */

struct orr_sim_load {
	double since_s, share;   /* share: what it gives since then, as a part of its bandwidth */
	double begin_s, until_s; /* the last stretch that it gave something in, ... */
	double now_busy_s,
		now_full_s; /* ... which the tables do not have yet: one line of the cache */
	int at;             /* its number */
	unsigned number;    /* of the link */
	struct orr_sim_load *next;
	double busy_s[BINS], full_s[BINS];
};

int orr_sim_loads_watched;

static struct {
	struct orr_sim_load *all;
	double bin_s;
} loads = { .bin_s = FIRST_S };

/* Puts what the link gave in its last stretch into the tables. */
static void close_stretch(struct orr_sim_load *load)
{
	load->busy_s[load->at] += load->now_busy_s;
	load->full_s[load->at] += load->now_full_s;
	load->now_busy_s = load->now_full_s = load->until_s = 0;
}

static void open_stretch(struct orr_sim_load *load, int i)
{
	close_stretch(load);
	load->at = i;
	load->begin_s = i * loads.bin_s;
	load->until_s = load->begin_s + loads.bin_s;
}

static void coarser(void)
{
	for (struct orr_sim_load *load = loads.all; load; load = load->next) {
		close_stretch(load);
		for (int i = 0; i < BINS; i++) {
			int k = 2 * i;

			load->busy_s[i] = k < BINS ? load->busy_s[k] + load->busy_s[k + 1] : 0;
			load->full_s[i] = k < BINS ? load->full_s[k] + load->full_s[k + 1] : 0;
		}
	}
	loads.bin_s *= 2;
}

static __attribute__((noinline)) struct orr_sim_load *new_load(struct orr_sim_link *l)
{
	l->load = calloc(1, sizeof(*l->load));
	if (!l->load)
		orr_fatal("out of memory for the load of links; simulate without a trace");
	l->load->number = orr_sim_link_number(l);
	l->load->next = loads.all;
	loads.all = l->load;
	return l->load;
}

static inline struct orr_sim_load *load_of(struct orr_sim_link *l)
{
	return __builtin_expect(l->load != NULL, 1) ? l->load : new_load(l);
}

/* The link gave that part of its bandwidth in several stretches, or in another one than before. */
static __attribute__((noinline)) void add_elsewhere(struct orr_sim_load *load, double begin_s,
						    double end_s, double share, int full)
{
	while (end_s > BINS * loads.bin_s)
		coarser();

	int same = begin_s >= load->begin_s && begin_s < load->until_s;

	for (int i = same ? load->at : (int) (begin_s / loads.bin_s); i < BINS && begin_s < end_s;
	     i++) {
		if (!same || i != load->at)
			open_stretch(load, i);

		double until_s = end_s < load->until_s ? end_s : load->until_s;

		same = 1;
		if (until_s <= begin_s)
			continue;
		load->now_busy_s += (until_s - begin_s) * share;
		load->now_full_s += full ? until_s - begin_s : 0;
		begin_s = until_s;
	}
}

/* The link gave that part of its bandwidth; mostly in the same stretch as before. */
static inline void add(struct orr_sim_load *load, double begin_s, double end_s, double share,
		       int full)
{
	if (begin_s < load->begin_s || begin_s >= end_s || end_s > load->until_s) {
		add_elsewhere(load, begin_s, end_s, share, full);
		return;
	}
	load->now_busy_s += (end_s - begin_s) * share;
	if (full)
		load->now_full_s += end_s - begin_s;
}

/* Adds what the link has given up to now. */
static inline void account(struct orr_sim_load *load, double now_s)
{
	if (load->share > 0 && now_s > load->since_s)
		add(load, load->since_s, now_s, load->share, load->share >= FULL);
	load->since_s = now_s;
}

static double share_of(const struct orr_sim_link *l, double rate)
{
	return rate < l->bytes_per_s ? rate / l->bytes_per_s : 1;
}

/* Messages on the link have come, gone, or got other rates. */
static inline void change(struct orr_sim_link *l, double now_s)
{
	double rate = 0, share;

	if (!l->shared)
		return;
	struct orr_sim_load *load = load_of(l);

	for (const struct orr_sim_hop *h = l->hops; h; h = h->next)
		rate += h->flow->of_links;
	share = share_of(l, rate);
	if (share == load->share)
		return;
	account(load, now_s);
	load->share = share;
}

void orr_sim_load_changed(struct orr_sim_link *first)
{
	double now_s = orr_sim_clock_s();

	for (struct orr_sim_link *l = first; l; l = l->next)
		change(l, now_s);
}

void orr_sim_load_of_route(const unsigned *links, unsigned n, double at_s)
{
	struct orr_sim_link *all = n ? orr_sim_link(0) : NULL;

	for (unsigned i = 0; i < n; i++)
		change(&all[links[i]], at_s);
}

void orr_sim_load_of_one(const unsigned *links, unsigned n, double since_s, double rate)
{
	struct orr_sim_link *all = n ? orr_sim_link(0) : NULL;
	double now_s = orr_sim_clock_s();

	for (unsigned i = 0; i < n; i++) {
		struct orr_sim_link *l = &all[links[i]];

		if (!l->shared)
			continue;
		struct orr_sim_load *load = load_of(l);
		double share = share_of(l, rate);

		orr_assert(load->share == 0);
		if (share > 0 && now_s > since_s)
			add(load, since_s, now_s, share, share >= FULL);
	}
}

void orr_sim_load_served(struct orr_sim_link *l, double begin_s, double end_s)
{
	add(load_of(l), begin_s, end_s, 1.0 / orr_sim.channels, orr_sim.channels == 1);
}

void orr_sim_load_gave(struct orr_sim_link *l, double begin_s, double end_s, double rate)
{
	double share = share_of(l, rate);

	if (l->shared)
		add(load_of(l), begin_s, end_s, share, share >= FULL);
}

/* ---- for the trace ---- */

void orr_sys_wires_watch(struct orr_process *proc)
{
	(void) proc;
	orr_sim_loads_watched = 1;
}

static int64_t ns_of(double s)
{
	return llround(s * 1e9);
}

/* The link, or one stretch of it. */
static void fill(const struct orr_sim_load *load, int bin, double now_s, struct orr_wire *w)
{
	double begin_s = 0, end_s = now_s, busy_s = 0, full_s = 0;

	if (bin < 0) {
		for (int i = 0; i < BINS; i++) {
			busy_s += load->busy_s[i];
			full_s += load->full_s[i];
		}
	} else {
		begin_s = bin * loads.bin_s;
		end_s = fmin(begin_s + loads.bin_s, now_s);
		busy_s = load->busy_s[bin];
		full_s = load->full_s[bin];
	}
	*w = (struct orr_wire){ .name = orr_sim_glue_link_name(load->number),
				.bytes_per_s = orr_sim_link(load->number)->bytes_per_s,
				.begin_ns = ns_of(begin_s),
				.end_ns = ns_of(end_s),
				.busy_ns = ns_of(busy_s),
				.full_ns = ns_of(full_s) };
}

/* Of links that were full as long, that with the lower number comes first. */
static int by_load(const void *a, const void *b)
{
	const struct orr_wire *x = a, *y = b;

	if (x->full_ns != y->full_ns)
		return x->full_ns > y->full_ns ? -1 : 1;
	if (x->busy_ns != y->busy_ns)
		return x->busy_ns > y->busy_ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

unsigned orr_sys_wires(struct orr_process *proc, struct orr_wire **wires)
{
	double now_s = orr_sim_clock_s();
	unsigned n = 0;

	(void) proc;
	*wires = NULL;
	orr_sim_network_tell_loads();
	for (struct orr_sim_load *load = loads.all; load; load = load->next)
		n++;
	if (!n)
		return 0;
	*wires = malloc(n * sizeof(**wires));
	if (!*wires)
		return 0;
	n = 0;
	for (struct orr_sim_load *load = loads.all; load; load = load->next) {
		account(load, now_s);
		close_stretch(load);
		fill(load, -1, now_s, &(*wires)[n]);
		(*wires)[n++].place = load->number;
	}
	qsort(*wires, n, sizeof(**wires), by_load);
	return n;
}

int orr_sys_wire_at(struct orr_process *proc, const struct orr_wire *wire, unsigned i,
		    struct orr_wire *out)
{
	double now_s = orr_sim_clock_s();

	(void) proc;
	if (i >= BINS || i * loads.bin_s >= now_s)
		return 0;
	fill(orr_sim_link(wire->place)->load, (int) i, now_s, out);
	return 1;
}
