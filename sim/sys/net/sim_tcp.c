/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model `tcp` of the network (sim_network.h): messages between hosts that talk by TCP, as Open
 * MPI and Linux carry them.
 *
 * Two ranks have a connection, which carries messages in the order in which they were sent. Of a
 * long one, FIRST bytes leave at once, and the rest, BURST bytes at a time behind what others have
 * handed over meanwhile, when the receiver has answered. The first link of the route serves
 * connections in turn, a chunk of each: the system lets none fill the queue of an interface. The
 * other links serve chunks in the order in which they come, as switches do; they begin when the
 * link before begins. A sender is told that its message is gone when the buffer of the connection
 * has room for all that it has not sent, and that grows with what it has carried.
 *
 * A link that limits both directions of a host together (limiter_link of SimGrid's clusters) is no
 * link of its own here: as long as both directions are busy, each has half of it. Links without
 * sharing, and the window of the protocol, only limit how fast a connection may be. The round trip
 * of an answer is part of the latency, as a ping-pong measures it: an answer only waits until the
 * begin of its message has come through.
 *
 * Where a link gets another bandwidth, what it serves goes on with that; chunks that have left the
 * first link keep their times.
 *
 * Invariant: a connection is in the line of its first link, or is served, exactly while it has
 * something to send; a link serves one chunk at a time. */
#include <math.h>
#include <stdlib.h>
#include "net/sim_link.h"
#include "net/sim_network_glue.h"
#include "sim_clock.h"
#include "base/assert.h"
#include "base/log.h"

#define TURN_S 1e-3         /* so long a connection has its turn (Linux: sk_pacing_shift), but */
#define TURN_LEAST 8192.0   /* ... at least for so many bytes, */
#define TURN_MOST 1048576.0 /* ... and at most (tcp_limit_output_bytes) */
#define FIRST 65536.0       /* bytes that leave before the receiver answers (Open MPI's btl_tcp) */
#define BURST (3 * 131072)  /* bytes handed over together after that: three of its fragments */
#define WINDOW 14600.0      /* bytes that a new connection may have under way: ten segments */
#define BUFFER 1.3e6        /* bytes of messages that the 4 MiB of Linux's tcp_wmem hold */

/* Two ranks; made with the first message between them. */
struct orr_sim_connection {
	const struct orr_sim_pair *pair;
	struct orr_sim_port *port;         /* the first link, or its own where no link serves */
	struct orr_sim_connection *others; /* the next that has its own */
	struct orr_sim_flow *first, *last; /* in the order of their sending, by `after` */
	struct orr_sim_connection *next;   /* in the line of its first link */
	unsigned nports, *ports;           /* the links of its route that serve one after another */
	unsigned limit[2];                 /* that of its sender's host, and of its receiver's, */
	unsigned back[2];                  /* ... and their links of the other direction */
	int is_limited[2];                 /* there is such a limit */
	double paced_s;                    /* it could have carried all so far by then, ... */
	double there_s;                    /* ... and all so far has arrived by then */
	double unsent, carried;            /* bytes */
	int is_busy;                       /* in the line, or served */
};

/* A link that serves, as long as somebody uses it. */
struct orr_sim_port {
	struct orr_sim_event event; /* first: the first link of a route has served a chunk */
	struct orr_sim_connection *first, *last; /* the line */
	struct orr_sim_flow *flow;               /* whose chunk is served; NULL: none */
	double chunk, left, rate, since_s;       /* its bytes, and those that are left since then */
	double behind_s; /* it arrives so long after the first link has served it */
	double free_s;   /* all that came so far is served by then */
};

static struct orr_sim_connection *portless;

static void *allocate(size_t bytes)
{
	void *p = calloc(1, bytes);
	if (!p)
		orr_fatal("out of memory for the connections of ranks; simulate fewer nodes");
	return p;
}

/* ---- routes ---- */

static int serves(unsigned link)
{
	const struct orr_sim_link *l = orr_sim_link(link);
	return l->shared && !l->is_limit;
}

/* The first link of a route that serves, or the last one; 0 if there is none. */
static unsigned port_at(const unsigned *links, unsigned n, int is_last)
{
	unsigned found = 0;
	for (unsigned i = n; i-- > 0;)
		if (serves(links[i])) {
			found = links[i];
			if (is_last)
				break;
		}
	return found;
}

static struct orr_sim_port *port_of(unsigned link)
{
	struct orr_sim_link *l = orr_sim_link(link);
	if (!l->port)
		l->port = allocate(sizeof(*l->port));
	return l->port;
}

/* That link of the route limits the host at one end: the sender's if it stands before the ports or
 * another limit, else the receiver's. */
static void limits(struct orr_sim_connection *c, const struct orr_sim_pair *p, unsigned i)
{
	int end = 1;
	for (unsigned k = i + 1; k < p->nlinks; k++)
		if (serves(p->links[k]) || orr_sim_link(p->links[k])->is_limit)
			end = 0;
	const struct orr_sim_pair *back = orr_sim_network_pair(p->dest, p->source);
	c->is_limited[end] = 1;
	c->limit[end] = p->links[i];
	c->back[end] = port_at(back->links, back->nlinks, !end);
}

static struct orr_sim_connection *connection_new(const struct orr_sim_pair *p)
{
	struct orr_sim_connection *c = allocate(sizeof(*c) + p->nlinks * sizeof(*c->ports));
	c->pair = p;
	c->ports = (unsigned *) (c + 1);
	for (unsigned i = 0; i < p->nlinks; i++)
		if (serves(p->links[i]))
			c->ports[c->nports++] = p->links[i];
	if (c->nports) {
		c->port = port_of(c->ports[0]);
	} else {
		c->port = allocate(sizeof(*c->port));
		c->others = portless;
		portless = c;
	}
	for (unsigned i = 0; i < p->nlinks && c->nports; i++)
		if (orr_sim_link(p->links[i])->is_limit)
			limits(c, p, i);
	return c;
}

static struct orr_sim_connection *connection_of(struct orr_sim_pair *p)
{
	if (!p->connection)
		p->connection = connection_new(p);
	return p->connection;
}

/* Bytes per second that a connection may have, whatever its ports give. */
static double most(const struct orr_sim_pair *p)
{
	double rate = p->most;
	for (unsigned i = 0; i < p->nlinks; i++)
		if (!orr_sim_link(p->links[i])->shared)
			rate = fmin(rate, orr_sim_link(p->links[i])->bytes_per_s);
	return rate;
}

/* Bytes per second of a link at one end of the route, or between: less while the other direction of
 * a limited host is busy. */
static double rate_of(const struct orr_sim_connection *c, unsigned i, double at_s)
{
	if (!c->nports)
		return most(c->pair);
	double rate = orr_sim_link(c->ports[i])->bytes_per_s;
	for (int end = 0; end < 2; end++) {
		if (!c->is_limited[end] || i != (end ? c->nports - 1 : 0))
			continue;
		const struct orr_sim_port *back = orr_sim_link(c->back[end])->port;
		int is_busy = back && (back->flow || back->free_s > at_s);
		rate = fmin(rate, orr_sim_link(c->limit[end])->bytes_per_s / (is_busy ? 2 : 1));
	}
	return rate;
}

/* ---- the buffer of a connection ---- */

static void look_at_buffer(struct orr_sim_flow *f)
{
	const struct orr_sim_connection *c = f->pair->connection;
	void (*taken_over)(struct orr_sim_flow *) = f->taken_over;
	if (!taken_over || c->unsent > fmin(2 * (WINDOW + c->carried), BUFFER))
		return;
	f->taken_over = NULL;
	taken_over(f);
}

/* ---- service ---- */

static void served(struct orr_sim_event *e);
static void answered(struct orr_sim_event *e);

/* Sends a chunk along the route. Returns when its last byte is there; *first_s: its first one. */
static double pass(const struct orr_sim_connection *c, struct orr_sim_port *port,
		   const struct orr_sim_flow *f, double *first_s)
{
	double begin_s = port->since_s, end_s = begin_s + port->chunk / port->rate;
	port->free_s = end_s;
	for (unsigned i = 0; i < c->nports; i++) {
		struct orr_sim_port *q = port_of(c->ports[i]);
		if (i) {
			begin_s = fmax(begin_s, q->free_s);
			/* It takes the time of its bytes, also where they come more slowly. */
			q->free_s = begin_s + port->chunk / (rate_of(c, i, begin_s) * f->factor);
			end_s = fmax(end_s, q->free_s);
		}
		if (orr_sim_loads_watched)
			orr_sim_load_served(orr_sim_link(c->ports[i]), begin_s, q->free_s);
	}
	*first_s = begin_s;
	return end_s;
}

/* The next connection in line has its turn. */
static void serve(struct orr_sim_port *port)
{
	struct orr_sim_connection *c = port->first;
	struct orr_sim_flow *f = c->first;
	double chunk;
	orr_assert(!port->flow && f->left > 0);
	port->first = c->next;
	if (!port->first)
		port->last = NULL;
	port->flow = f;
	/* Messages to this host may pass the same link. */
	port->since_s = fmax(orr_sim_clock_s(), port->free_s);
	port->rate = rate_of(c, 0, port->since_s) * f->factor;
	chunk = fmin(fmax(TURN_S * port->rate, TURN_LEAST), TURN_MOST);
	port->chunk = port->left = f->left > 1.25 * chunk ? chunk : f->left;
	f->left -= port->chunk;

	double first_s, arrives_s = pass(c, port, f, &first_s);
	port->behind_s = fmax(arrives_s - port->free_s, 0);
	if (f->rest > 0 && !f->is_begun) {
		f->is_begun = 1;
		f->event.fire = answered;
		orr_sim_event_set(&f->event, first_s);
	}
	port->event.fire = served;
	orr_sim_event_set(&port->event, port->free_s);
}

static void line_up(struct orr_sim_connection *c, struct orr_sim_port *port)
{
	c->next = NULL;
	*(port->last ? &port->last->next : &port->first) = c;
	port->last = c;
}

/* The message has something to send, behind what the connection has already. */
static void hand_over(struct orr_sim_flow *f)
{
	struct orr_sim_connection *c = f->pair->connection;
	struct orr_sim_port *port = c->port;
	f->after = NULL;
	*(c->last ? &c->last->after : &c->first) = f;
	c->last = f;
	if (!c->is_busy) {
		c->is_busy = 1;
		line_up(c, port);
	}
	if (!port->flow)
		serve(port);
}

static void hand_over_rest(struct orr_sim_flow *f)
{
	f->left = f->rest > BURST + ORR_SIM_HEADER ? BURST : f->rest;
	f->rest -= f->left;
	hand_over(f);
}

static void answered(struct orr_sim_event *e)
{
	struct orr_sim_flow *f = (struct orr_sim_flow *) e;
	f->is_answered = 1;
	/* Else its first bytes are still on the way out. */
	if (f->is_out)
		hand_over_rest(f);
}

/* All of the message has left. */
static void leave(struct orr_sim_flow *f, double arrives_s)
{
	struct orr_sim_connection *c = f->pair->connection;
	c->paced_s = fmax(c->paced_s, f->since_s) + f->size / (most(f->pair) * f->factor);
	c->there_s = fmax(c->there_s, fmax(arrives_s, c->paced_s) + f->latency_s);
	f->event.fire = orr_sim_network_arrive;
	orr_sim_network_arrive_after(f, c->there_s);
}

static void served(struct orr_sim_event *e)
{
	struct orr_sim_port *port = (struct orr_sim_port *) e;
	struct orr_sim_flow *f = port->flow;
	struct orr_sim_connection *c = f->pair->connection;
	double arrives_s = orr_sim_clock_s() + port->behind_s;
	port->flow = NULL;
	c->unsent -= port->chunk;
	c->carried += port->chunk;
	look_at_buffer(f);
	for (struct orr_sim_flow *g = c->first; g; g = g->after)
		look_at_buffer(g);
	if (f->left <= 0) {
		c->first = f->after;
		if (!c->first)
			c->last = NULL;
	}
	c->is_busy = c->first != NULL;
	if (c->is_busy)
		line_up(c, port);
	if (f->left <= 0) {
		f->is_out = 1;
		if (f->rest <= 0)
			leave(f, arrives_s);
		else if (f->is_answered)
			hand_over_rest(f);
	}
	if (port->first && !port->flow)
		serve(port);
}

/* ---- the door ---- */

void orr_sim_tcp_send(struct orr_sim_flow *f, double latency_s)
{
	struct orr_sim_connection *c = connection_of(f->pair);
	f->latency_s = latency_s;
	f->since_s = orr_sim_clock_s();
	f->size = f->left;
	f->rest = 0;
	f->is_begun = f->is_answered = f->is_out = 0;
	if (f->size > FIRST + ORR_SIM_HEADER) {
		f->left = FIRST;
		f->rest = f->size - FIRST;
	}
	c->unsent += f->size;
	look_at_buffer(f);
	hand_over(f);
}

/* The chunk that the link serves goes on with what the link gives now. */
static void serve_on(struct orr_sim_port *port)
{
	double now_s = orr_sim_clock_s();
	if (!port || !port->flow)
		return;
	if (now_s > port->since_s) {
		port->left = fmax(port->left - port->rate * (now_s - port->since_s), 0);
		port->since_s = now_s;
	}
	port->rate = rate_of(port->flow->pair->connection, 0, now_s) * port->flow->factor;
	port->free_s = port->since_s + port->left / port->rate;
	orr_sim_event_set(&port->event, port->free_s);
}

void orr_sim_tcp_changed(struct orr_sim_link *l)
{
	serve_on(l->port);
	for (struct orr_sim_connection *c = portless; c && !l->shared; c = c->others)
		serve_on(c->port);
}
