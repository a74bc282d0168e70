/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model `queue` of the network (sim_network.h): a link serves whole messages in the order in
 * which they were sent, and a message goes on to the next link of its route as soon as its first
 * byte is there. So the end of a message is known when it is sent.
 *
 * When a link gets another bandwidth, all that is under way is planned again, in the order in which
 * it was sent: what a link already serves stays in its channel and takes longer or shorter by the
 * ratio of the bandwidths, all else waits for it anew.
 *
 * Invariant: a channel serves one message at a time, and what it serves at any time has the
 * bandwidth of that time. */
#include <math.h>
#include <stdlib.h>
#include "net/sim_link.h"
#include "sim.h"
#include "sim_clock.h"
#include "base/assert.h"
#include "base/log.h"

#define SMALL 272 /* bytes of envelopes, which are in nobody's way */

static struct {
	struct orr_sim_flow *first,
		*last;              /* that have not arrived, in the order of their sending */
	struct orr_sim_event again; /* all is planned again, after all changes of this time */
} queue;

/* The bytes per second that a message gets of a link. */
static double rate_of(const struct orr_sim_link *l, double bytes_per_s)
{
	return l->shared ? bytes_per_s / orr_sim.channels : bytes_per_s;
}

/* Bytes per second of a message that is alone on its route. */
static double alone(const struct orr_sim_flow *f)
{
	double rate = f->pair->most;
	for (unsigned i = 0; i < f->pair->nlinks; i++) {
		const struct orr_sim_link *l = orr_sim_link(f->pair->links[i]);
		rate = fmin(rate, rate_of(l, l->bytes_per_s));
	}
	return rate * f->factor;
}

static void use(struct orr_sim_link *l)
{
	l->planned = l->bytes_per_s;
	if (!l->free_s)
		l->free_s = calloc((size_t) orr_sim.channels, sizeof(double));
	if (!l->free_s)
		orr_fatal("out of memory for the channels of links; simulate fewer nodes");
}

/* The channel that is free first. */
static unsigned free_channel(const struct orr_sim_link *l)
{
	unsigned first = 0;
	for (unsigned i = 1; i < (unsigned) orr_sim.channels; i++)
		if (l->free_s[i] < l->free_s[first])
			first = i;
	return first;
}

/* The link serves the message after all that it was given before. */
static void serve(struct orr_sim_link *l, struct orr_sim_hop *h, const struct orr_sim_flow *f,
		  double first_s)
{
	h->channel = free_channel(l);
	h->begin_s = fmax(first_s, l->free_s[h->channel]);
	h->end_s = h->begin_s + f->left / (rate_of(l, l->bytes_per_s) * f->factor);
	l->free_s[h->channel] = h->end_s;
}

/* ---- sending ---- */

static void leave(struct orr_sim_event *e)
{
	struct orr_sim_flow *f = (struct orr_sim_flow *) e;
	*(f->before ? &f->before->after : &queue.first) = f->after;
	*(f->after ? &f->after->before : &queue.last) = f->before;
	for (unsigned i = 0; f->hops && orr_sim_loads_watched && i < f->pair->nlinks; i++) {
		struct orr_sim_link *l = orr_sim_link(f->pair->links[i]);
		if (l->shared)
			orr_sim_load_served(l, f->hops[i].begin_s, f->hops[i].end_s);
	}
	if (f->hops)
		orr_sim_hops_give(f->pair, f->hops);
	f->hops = NULL;
	orr_sim_network_arrive(e);
}

void orr_sim_queue_send(struct orr_sim_flow *f, double first_s)
{
	f->hops = f->left > SMALL ? orr_sim_hops_take(f->pair) : NULL;
	f->first_s = f->since_s = first_s;
	f->rate = alone(f);
	for (unsigned i = 0; f->hops && i < f->pair->nlinks; i++) {
		struct orr_sim_link *l = orr_sim_link(f->pair->links[i]);
		use(l);
		if (!l->shared)
			continue;
		serve(l, &f->hops[i], f, f->since_s);
		f->since_s = f->hops[i].begin_s;
	}
	f->before = queue.last;
	f->after = NULL;
	*(queue.last ? &queue.last->after : &queue.first) = f;
	queue.last = f;
	f->event.fire = leave;
	f->end_s = f->since_s + f->left / f->rate;
	orr_sim_network_arrive_after(f, f->end_s);
}

/* ---- planning again ---- */

/* Messages that links serve now go on at the new bandwidths; the rest of the plan is given up. */
static void stretch(double now_s)
{
	for (struct orr_sim_flow *f = queue.first; f; f = f->after)
		for (unsigned i = 0; f->hops && i < f->pair->nlinks; i++) {
			struct orr_sim_link *l = orr_sim_link(f->pair->links[i]);
			for (int c = 0; l->shared && c < orr_sim.channels; c++)
				l->free_s[c] = fmin(l->free_s[c], now_s);
		}
	for (struct orr_sim_flow *f = queue.first; f; f = f->after)
		for (unsigned i = 0; f->hops && i < f->pair->nlinks; i++) {
			struct orr_sim_link *l = orr_sim_link(f->pair->links[i]);
			struct orr_sim_hop *h = &f->hops[i];
			if (!l->shared || h->begin_s > now_s || h->end_s <= now_s)
				continue;
			h->end_s = now_s + (h->end_s - now_s) * l->planned / l->bytes_per_s;
			l->free_s[h->channel] = h->end_s;
		}
}

/* The message's way from now on. One that has begun at its last link has had a part of its time at
 * the old rate. */
static void plan(struct orr_sim_flow *f, double now_s)
{
	double begin_s = f->first_s, rate = alone(f);
	for (unsigned i = 0; f->hops && i < f->pair->nlinks; i++) {
		struct orr_sim_link *l = orr_sim_link(f->pair->links[i]);
		if (!l->shared)
			continue;
		if (f->hops[i].begin_s > now_s)
			serve(l, &f->hops[i], f, fmax(begin_s, now_s));
		begin_s = f->hops[i].begin_s;
	}
	if (f->since_s < now_s) {
		f->end_s = now_s + (f->end_s - now_s) * f->rate / rate;
	} else {
		f->since_s = begin_s;
		f->end_s = begin_s + f->left / rate;
	}
	f->rate = rate;
	orr_sim_network_arrive_after(f, f->end_s);
}

static void plan_again(struct orr_sim_event *e)
{
	double now_s = orr_sim_clock_s();
	(void) e;
	stretch(now_s);
	for (struct orr_sim_flow *f = queue.first; f; f = f->after)
		if (f->end_s > now_s)
			plan(f, now_s);
	for (struct orr_sim_flow *f = queue.first; f; f = f->after)
		for (unsigned i = 0; f->hops && i < f->pair->nlinks; i++)
			use(orr_sim_link(f->pair->links[i]));
}

void orr_sim_queue_changed(void)
{
	queue.again.fire = plan_again;
	if (queue.first && !queue.again.number)
		orr_sim_event_set(&queue.again, orr_sim_clock_s());
}
