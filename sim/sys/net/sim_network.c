/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The models of the network (sim_network.h). The platform is asked for routes, bandwidths and
 * latencies once for each pair that talks; SMPI's factors by size of message apply to all models.
 *
 * A message first spends the latency of its route, then it takes its links. Messages that end at
 * the same time, but for rounding, arrive in the order in which they were sent: in all models,
 * because the order of what follows depends on it.
 *
 * In the model `share`, messages of a pair that MPI hands to its connection as a whole take their
 * links one after the other, in the order of their sending; long ones, which go in fragments that
 * make room for others, take them at once.
 *
 * Invariant: in the model `share`, a link has a level, which says what it gives to a message; a
 * message has the least that its links give. Each start and end of a message corrects the levels of
 * its links, the messages there, then the other links of messages whose rate is another one by
 * more than TOLERANCE, and so on; each link once. */
#include "net/sim_network.h"

#include <math.h>
#include <stdlib.h>
#include "actors/sim_rank.h"
#include "net/sim_link.h"
#include "net/sim_network_glue.h"
#include "sim_clock.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"

#define TICK_S 1e-9    /* messages that arrive in the same one do so in the order of their start */
#define TOLERANCE 1e-3 /* share: rates that differ by less are the same */
#define LONG_BYTES 1e6 /* a message whose latency is of no account */
#define FRAGMENTS (3 * 131072) /* of a long message, are handed over at once (Open MPI, TCP) */
#define LEVEL_PASSES 4
#define BANDWIDTH_PASSES 4

static struct {
	struct orr_sim_link *links;
	unsigned nlinks, cap;
	struct orr_map pairs;
	uint64_t nflows; /* on their way */
	uint64_t changes;
	struct orr_sim_link *first, **last; /* share: to be corrected */
} network = { .pairs = { .key_offset = offsetof(struct orr_sim_pair, key) },
	      .last = &network.first };

/* ---- the platform ---- */

static void grow_links(void)
{
	network.cap = network.cap ? 2 * network.cap : 64;
	network.links = realloc(network.links, network.cap * sizeof(struct orr_sim_link));
	if (!network.links)
		orr_fatal("out of memory for %u links; simulate fewer nodes", network.cap);
	for (unsigned i = 0; i < network.nlinks; i++)
		if (network.links[i].hops)
			network.links[i].hops->at = &network.links[i].hops;
}

struct orr_sim_link *orr_sim_link(unsigned i)
{
	orr_assert(i < network.nlinks);
	return &network.links[i];
}

unsigned orr_sim_link_number(const struct orr_sim_link *l)
{
	return (unsigned) (l - network.links);
}

void orr_sim_network_link(unsigned i, double bytes_per_s, int shared, int is_limit)
{
	orr_assert(i == network.nlinks);
	if (i == network.cap)
		grow_links();
	network.links[network.nlinks++] = (struct orr_sim_link){ .bytes_per_s = bytes_per_s,
								 .shared = shared,
								 .is_limit = is_limit };
}

static void describe(struct orr_sim_pair *p, const struct orr_sim_glue_path *path)
{
	double penalty = path->weight > 0 ? path->latency_s : 0;
	p->latency_s = path->latency_s;
	p->most = path->most;
	p->nlinks = path->n;
	p->links = (unsigned *) (p + 1);
	for (unsigned i = 0; i < path->n; i++) {
		p->links[i] = path->links[i];
		penalty += path->weight / network.links[path->links[i]].bytes_per_s;
	}
	p->weight = penalty > 0 ? 1 / penalty : 1;
}

struct orr_sim_pair *orr_sim_network_pair(int source, int dest)
{
	uint64_t key = (uint64_t) source << 32 | (uint32_t) dest;
	struct orr_sim_pair *p = orr_map_find(&network.pairs, orr_mix64(key));
	struct orr_sim_glue_path path = { 0 };
	if (p)
		return p;
	if (orr_sim.network != ORR_SIM_MAXMIN)
		orr_sim_glue_path(orr_sim.ranks[source].host, orr_sim.ranks[dest].host, &path);
	p = calloc(1, sizeof(*p) + path.n * sizeof(*p->links));
	if (!p)
		orr_fatal("out of memory for the routes of messages; simulate fewer nodes");
	p->key = orr_mix64(key);
	p->source = source;
	p->dest = dest;
	describe(p, &path);
	if (orr_map_insert(&network.pairs, p))
		orr_fatal("out of memory for the routes of messages; simulate fewer nodes");
	return p;
}

void orr_sim_network_route(int source, int dest, struct orr_sim_route *route)
{
	struct orr_sim_glue_path path;
	orr_sim_glue_path(orr_sim.ranks[source].host, orr_sim.ranks[dest].host, &path);
	double bytes_per_s = path.most;
	for (unsigned i = 0; i < path.n; i++)
		bytes_per_s = fmin(bytes_per_s, network.links[path.links[i]].bytes_per_s);
	route->latency_s = path.latency_s * orr_sim_glue_factor(ORR_SIM_LATENCY, 1);
	route->bytes_per_s = bytes_per_s * orr_sim_glue_factor(ORR_SIM_BANDWIDTH, LONG_BYTES);
	route->overhead_s = orr_sim_glue_overhead_s(ORR_SIM_SENDING, 1) +
			    orr_sim_glue_overhead_s(ORR_SIM_RECEIVING, 1);
}

double orr_sim_network_to_itself_s(int rank, size_t bytes)
{
	struct orr_sim_glue_path path;
	double size = (double) (bytes + ORR_SIM_HEADER), n = (double) bytes;
	orr_sim_glue_path(orr_sim.ranks[rank].host, orr_sim.ranks[rank].host, &path);
	double bytes_per_s = path.most;
	for (unsigned i = 0; i < path.n; i++)
		bytes_per_s = fmin(bytes_per_s, network.links[path.links[i]].bytes_per_s);
	if (!path.n)
		return -1;
	return path.latency_s * orr_sim_glue_factor(ORR_SIM_LATENCY, size) +
	       size / (bytes_per_s * orr_sim_glue_factor(ORR_SIM_BANDWIDTH, size)) +
	       orr_sim_glue_overhead_s(ORR_SIM_SENDING, n) +
	       orr_sim_glue_overhead_s(ORR_SIM_RECEIVING, n);
}

double orr_sim_network_alone_s(const struct orr_sim_pair *p, size_t bytes)
{
	double size = (double) (bytes + ORR_SIM_HEADER), bytes_per_s = p->most;
	for (unsigned i = 0; i < p->nlinks; i++)
		bytes_per_s = fmin(bytes_per_s, network.links[p->links[i]].bytes_per_s);
	return p->latency_s * orr_sim_glue_factor(ORR_SIM_LATENCY, size) +
	       size / (bytes_per_s * orr_sim_glue_factor(ORR_SIM_BANDWIDTH, size));
}

/* Pairs keep what they had: a large simulation would spread its hops over the whole memory. */
struct orr_sim_hop *orr_sim_hops_take(struct orr_sim_pair *p)
{
	struct orr_sim_hop *hops = p->spare;
	if (hops) {
		p->spare = hops->next;
		return hops;
	}
	hops = malloc((p->nlinks + 1) * sizeof(*hops));
	if (!hops)
		orr_fatal("out of memory for messages on the network; simulate fewer nodes");
	return hops;
}

void orr_sim_hops_give(struct orr_sim_pair *p, struct orr_sim_hop *hops)
{
	hops->next = p->spare;
	p->spare = hops;
}

/* ---- the end of a message ---- */

void orr_sim_network_arrive(struct orr_sim_event *e)
{
	struct orr_sim_flow *f = (struct orr_sim_flow *) e;
	orr_assert(network.nflows > 0);
	network.nflows--;
	f->arrived(f);
}

void orr_sim_network_arrive_after(struct orr_sim_flow *f, double date_s)
{
	double tick_s = (floor(date_s / TICK_S) + 1) * TICK_S;
	orr_sim_event_set_as(&f->event, date_s > tick_s ? date_s : tick_s, f->sent);
}

/* ---- share ---- */

/* The loads of its links are told of a message that was alone on them, before another one or
 * another bandwidth comes. Most are alone until they leave, and then the loads are told once. */
static void share_tell(struct orr_sim_flow *f)
{
	if (!f->is_untold)
		return;
	f->is_untold = 0;
	orr_sim_load_of_route(f->pair->links, f->pair->nlinks, f->first_s);
}

/* The loads of the links of a message that has just come, alone or not. */
static void share_tell_later(struct orr_sim_flow *f, int alone)
{
	f->first_s = orr_sim_clock_s();
	f->is_untold = 1;
	if (!alone)
		share_tell(f);
}

/* The loads of the links that a message is not on any more. */
static void share_tell_end(struct orr_sim_flow *f)
{
	const struct orr_sim_pair *p = f->pair;
	if (f->is_untold)
		orr_sim_load_of_one(p->links, p->nlinks, f->first_s, f->of_links);
	else
		orr_sim_load_of_route(p->links, p->nlinks, orr_sim_clock_s());
	f->is_untold = 0;
}

void orr_sim_network_tell_loads(void)
{
	for (unsigned i = 0; i < network.nlinks; i++)
		for (struct orr_sim_hop *h = network.links[i].hops; h; h = h->next)
			share_tell(h->flow);
}

/* The rate that the other links of its route, and the protocol, leave to the message. */
static double share_elsewhere(const struct orr_sim_flow *f, const struct orr_sim_link *here)
{
	double rate = f->pair->most;
	for (unsigned i = 0; i < f->pair->nlinks; i++) {
		const struct orr_sim_link *l = &network.links[f->pair->links[i]];
		if (l == here)
			continue;
		double mine = l->shared ? l->level * f->pair->weight : l->bytes_per_s;
		rate = mine < rate ? mine : rate;
	}
	return rate;
}

/* The level at which the link is full: messages that get less elsewhere leave the rest to the
 * others. If all do, the one that gets most may have what is left. */
static double share_level(const struct orr_sim_link *l)
{
	double level = l->bytes_per_s / l->weight;
	for (int pass = 0; pass < LEVEL_PASSES; pass++) {
		double left = l->bytes_per_s, weight = 0, most = 0, most_weight = 1;
		for (const struct orr_sim_hop *h = l->hops; h; h = h->next) {
			double mine = h->flow->pair->weight;
			double rate = share_elsewhere(h->flow, l);
			if (rate >= mine * level) {
				weight += mine;
				continue;
			}
			left -= rate;
			if (rate / mine > most / most_weight) {
				most = rate;
				most_weight = mine;
			}
		}
		double next = weight > 0 ? left / weight : (left + most) / most_weight;
		if (next <= level * (1 + TOLERANCE))
			break;
		level = next;
	}
	return level;
}

/* Takes the bytes that have arrived off, and finds out when the rest will have. Returns whether the
 * rate is another one now. */
static int share_correct(struct orr_sim_flow *f, double now_s)
{
	double of_links = share_elsewhere(f, NULL), rate = of_links * f->factor;
	if (f->event.number && fabs(rate - f->rate) <= TOLERANCE * rate)
		return 0;
	f->left -= f->rate * (now_s - f->since_s);
	if (f->left < 0)
		f->left = 0;
	if (f->event.number && f->left <= 0)
		return 0; /* it arrives at this tick */
	f->since_s = now_s;
	f->rate = rate;
	f->of_links = of_links;
	orr_sim_network_arrive_after(f, now_s + f->left / rate);
	return 1;
}

/* The link is to be corrected as part of the present change. */
static void share_mark(unsigned number)
{
	struct orr_sim_link *l = &network.links[number];
	if (!l->shared || !l->hops || l->mark == network.changes)
		return;
	l->mark = network.changes;
	*network.last = l;
	network.last = &l->next;
	l->next = NULL;
}

/* Corrects the marked links, and what depends on them: the nearest first. */
static void share_correct_marked(void)
{
	double now_s = orr_sim_clock_s();
	for (struct orr_sim_link *l = network.first; l; l = l->next) {
		l->level = share_level(l);
		for (struct orr_sim_hop *h = l->hops; h; h = h->next)
			if (share_correct(h->flow, now_s))
				for (unsigned i = 0; i < h->flow->pair->nlinks; i++)
					share_mark(h->flow->pair->links[i]);
	}
	if (__builtin_expect(orr_sim_loads_watched, 0))
		orr_sim_load_changed(network.first);
	network.first = NULL;
	network.last = &network.first;
}

/* The message has come to the links of its route, or gone. */
static void share_change(const struct orr_sim_flow *f)
{
	network.changes++;
	for (unsigned i = 0; i < f->pair->nlinks; i++) {
		struct orr_sim_link *l = &network.links[f->pair->links[i]];
		if (l->shared && l->hops)
			l->level = share_level(l);
		share_mark(f->pair->links[i]);
	}
	share_correct_marked();
}

/* The link has another bandwidth, which may move the limit of its messages to other links and back:
 * unlike the start of one message, that takes several passes. */
static void share_bandwidth(unsigned number)
{
	for (int pass = 0; pass < BANDWIDTH_PASSES; pass++) {
		network.changes++;
		share_mark(number);
		for (struct orr_sim_hop *h = network.links[number].hops; h; h = h->next) {
			share_correct(h->flow, orr_sim_clock_s());
			for (unsigned i = 0; i < h->flow->pair->nlinks; i++)
				share_mark(h->flow->pair->links[i]);
		}
		share_correct_marked();
	}
}

/* The whole message has its turn, or waits for those of its pair before it. */
static int share_has_turn(struct orr_sim_flow *f)
{
	struct orr_sim_pair *p = f->pair;
	if (!p->turn) {
		p->turn = p->turn_last = f;
		return 1;
	}
	p->turn_last = p->turn_last->after = f;
	return 0;
}

static void share_leave(struct orr_sim_event *e);

/* The whole message goes, and leaves its places to the next of its pair, if one waits: for others
 * nothing changes. */
static int share_hand_over(struct orr_sim_flow *f)
{
	struct orr_sim_pair *p = f->pair;
	struct orr_sim_flow *next = f->after;
	orr_assert(p->turn == f);
	p->turn = next;
	f->after = NULL;
	if (!next) {
		p->turn_last = NULL;
		return 0;
	}
	next->hops = f->hops;
	f->hops = NULL;
	for (unsigned i = 0; i < p->nlinks; i++)
		next->hops[i].flow = next;
	next->is_untold = f->is_untold;
	next->first_s = f->first_s;
	f->is_untold = 0;
	next->event.fire = share_leave;
	next->since_s = orr_sim_clock_s();
	share_correct(next, next->since_s);
	return 1;
}

static void share_give_up_links(struct orr_sim_flow *f)
{
	int alone = 1;
	for (unsigned i = 0; i < f->pair->nlinks; i++) {
		struct orr_sim_hop *h = &f->hops[i];
		struct orr_sim_link *l = &network.links[f->pair->links[i]];
		*h->at = h->next;
		if (h->next)
			h->next->at = h->at;
		alone &= !l->shared || !l->hops;
		/* Of an empty link nothing is left by rounding. */
		l->weight = l->hops ? l->weight - f->pair->weight : 0;
	}
	if (!alone)
		share_change(f);
	if (__builtin_expect(orr_sim_loads_watched, 0))
		share_tell_end(f);
	orr_sim_hops_give(f->pair, f->hops);
	f->hops = NULL;
}

static void share_leave(struct orr_sim_event *e)
{
	struct orr_sim_flow *f = (struct orr_sim_flow *) e;
	if (!f->is_whole || !share_hand_over(f))
		share_give_up_links(f);
	orr_sim_network_arrive(e);
}

/* The latency has passed. */
static void share_enter(struct orr_sim_event *e)
{
	struct orr_sim_flow *f = (struct orr_sim_flow *) e;
	int alone = 1;
	if (f->is_whole && !share_has_turn(f))
		return;
	f->hops = orr_sim_hops_take(f->pair);
	for (unsigned i = 0; i < f->pair->nlinks; i++) {
		struct orr_sim_hop *h = &f->hops[i];
		struct orr_sim_link *l = &network.links[f->pair->links[i]];
		if (!l->hops)
			l->level = l->bytes_per_s / f->pair->weight;
		if (l->shared && l->hops) {
			alone = 0;
			share_tell(l->hops->flow);
		}
		*h = (struct orr_sim_hop){ .next = l->hops, .at = &l->hops, .flow = f };
		if (h->next)
			h->next->at = &h->next;
		l->hops = h;
		l->weight += f->pair->weight;
	}
	f->event.fire = share_leave;
	f->since_s = orr_sim_clock_s();
	if (!alone)
		share_change(f);
	share_correct(f, f->since_s);
	if (__builtin_expect(orr_sim_loads_watched, 0))
		share_tell_later(f, alone);
}

/* ---- sending ---- */

static void maxmin_start(struct orr_sim_event *e)
{
	struct orr_sim_flow *f = (struct orr_sim_flow *) e;
	const struct orr_sim_pair *p = f->pair;
	orr_sim_glue_comm_start(f, orr_sim.ranks[p->source].host, orr_sim.ranks[p->dest].host,
				(size_t) f->left);
}

void orr_sim_network_comm_ended(struct orr_sim_flow *f)
{
	f->event.fire = orr_sim_network_arrive;
	orr_sim_network_arrive_after(f, orr_sim_clock_s());
}

void orr_sim_network_send(struct orr_sim_flow *f, size_t bytes)
{
	double now_s = orr_sim_clock_s(), size = (double) (bytes + ORR_SIM_HEADER);
	network.nflows++;
	f->sent = orr_sim_event_order();
	f->left = size;
	if (orr_sim.network == ORR_SIM_MAXMIN) {
		f->event.fire = maxmin_start;
		orr_sim_event_set(&f->event, now_s);
		return;
	}
	f->event.anywhere = 1;
	if (orr_sim.on_message)
		orr_sim.on_message();
	f->factor = orr_sim_glue_factor(ORR_SIM_BANDWIDTH, size);
	double latency_s = f->pair->latency_s * orr_sim_glue_factor(ORR_SIM_LATENCY, size);
	if (orr_sim.network == ORR_SIM_QUEUE) {
		orr_sim_queue_send(f, now_s + latency_s);
		return;
	}
	if (orr_sim.network == ORR_SIM_TCP) {
		orr_sim_tcp_send(f, latency_s);
		return;
	}
	f->is_whole = bytes < orr_sim_glue_eager_bytes() + FRAGMENTS;
	f->event.fire = share_enter;
	orr_sim_event_set(&f->event, now_s + latency_s);
}

void orr_sim_network_bandwidth(unsigned i, double bytes_per_s)
{
	struct orr_sim_link *l = &network.links[i];
	for (struct orr_sim_hop *h = l->hops; h && orr_sim.network == ORR_SIM_SHARE; h = h->next)
		share_tell(h->flow);
	l->bytes_per_s = bytes_per_s;
	if (orr_sim.network == ORR_SIM_QUEUE)
		orr_sim_queue_changed();
	else if (orr_sim.network == ORR_SIM_TCP)
		orr_sim_tcp_changed(l);
	else if (orr_sim.network == ORR_SIM_SHARE)
		share_bandwidth(i);
}

int orr_sim_network_busy(void)
{
	return network.nflows > 0;
}
