/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends that come later than others of their value: each insertion finds one more reader of a datum
 * that is there already (coop.c finds those that come together).
 *
 * The first of them may wait for others a moment, a small part of the time that its bytes take;
 * each that comes begins the moment anew; a send of another value ends it, and so does a thread
 * that waits. While the value leaves this rank, those that come join its tree, or wait until it has
 * left if it travels without one or in pieces: they would only share the network with it. Small
 * values wait for nothing.
 *
 * Invariant: the sends of a group are mates and in nobody else's hands; a group has a date, after
 * which its sends go in any case, so that a receiver which is late holds up no other. */
#include <math.h>
#include <stdlib.h>
#include "base/assert.h"
#include "base/log.h"
#include "mpi/carry/late.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/request.h"
#include "mpi/carry/shape.h"

#define PATIENCE 2.0 /* times as long as it should take, a group waits for a value to leave */

struct orr_mpi_group {
	struct orr_mpi_group *next;
	struct orr_mpi_req *first; /* the most urgent one; linked by link.next */
	double due_us;             /* 0: now */
	int expects;               /* it waits for others to come, not for one that leaves */
};

static struct orr_mpi_req *req_of(struct orr_mpi_link *l)
{
	return l ? (struct orr_mpi_req *) ((char *) l - offsetof(struct orr_mpi_req, link)) : NULL;
}

static size_t size_of(const struct orr_mpi_req *req)
{
	return starpu_data_get_size(req->acquire.access.handle);
}

static uint32_t length(struct orr_mpi_req *req)
{
	uint32_t n = 0;

	for (; req; req = req_of(req->link.next))
		n++;
	return n;
}

/* ---- groups ---- */

static void wake_at(struct orr_mpi *mpi, double due_us)
{
	if (!mpi->may_drive)
		orr_sys_mpi_wake_later(mpi->proc, fmax(due_us - orr_sys_now_us(), 0));
}

/* Tells the trace what holds these sends. */
static void tell_group(struct orr_mpi *mpi, struct orr_mpi_req *first, int hold)
{
	for (; first && orr_mpi_is_traced(mpi); first = req_of(first->link.next))
		orr_mpi_trace_held(mpi, hold, first);
}

static enum orr_trace_hold hold_of(int expects)
{
	return expects ? ORR_HOLD_OTHERS : ORR_HOLD_VALUE;
}

static void group_new(struct orr_mpi *mpi, struct orr_mpi_req *first, double wait_us, int expects)
{
	struct orr_mpi_group *g = malloc(sizeof(*g));

	if (!g)
		orr_fatal("out of memory for sends of one value");
	*g = (struct orr_mpi_group){ .next = mpi->late.groups,
				     .first = first,
				     .due_us = orr_sys_now_us() + wait_us,
				     .expects = expects };
	tell_group(mpi, first, hold_of(expects));
	ORR_ATOMIC_STORE(&mpi->late.groups, g);
	wake_at(mpi, g->due_us);
}

static struct orr_mpi_group *group_of(const struct orr_mpi *mpi, const struct orr_mpi_req *req)
{
	struct orr_mpi_group *g = mpi->late.groups;

	while (g && !orr_mpi_mates(mpi, g->first, req))
		g = g->next;
	return g;
}

/* Puts a send, or a list of mates, into the group. */
static void group_add(struct orr_mpi *mpi, struct orr_mpi_group *g, struct orr_mpi_req *first)
{
	struct orr_mpi_req *last = first, *urgent = g->first;

	tell_group(mpi, first, hold_of(g->expects));
	while (last->link.next)
		last = req_of(last->link.next);
	if (first->prio > urgent->prio) { /* equal ones are later */
		last->link.next = &urgent->link;
		g->first = first;
	} else {
		last->link.next = urgent->link.next;
		urgent->link.next = &first->link;
	}
}

/* Takes the group out of the list; its sends can start. */
static struct orr_mpi_req *group_end(struct orr_mpi *mpi, struct orr_mpi_group **at)
{
	struct orr_mpi_group *g = *at;
	struct orr_mpi_req *first = g->first;

	ORR_ATOMIC_STORE(at, g->next);
	for (struct orr_mpi_req *req = first; req; req = req_of(req->link.next)) {
		ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_FETCHING);
		req->waited = 1;
	}
	tell_group(mpi, first, (int) hold_of(g->expects) | ORR_TRACE_GOES_ON);
	free(g);
	return first;
}

int orr_mpi_late_hurry(struct orr_mpi *mpi)
{
	if (!mpi->set.max_route ||
	    (!ORR_ATOMIC_LOAD(&mpi->late.groups) && !ORR_ATOMIC_LOAD(&mpi->engine.inbox)))
		return 0;
	ORR_ATOMIC_STORE(&mpi->late.hurry, 1);
	return 1;
}

struct orr_mpi_req *orr_mpi_late_due(struct orr_mpi *mpi)
{
	struct orr_mpi_group **at = &mpi->late.groups;

	orr_mpi_assert_owner(mpi);
	int hurry = ORR_ATOMIC_LOAD_RELAXED(&mpi->late.hurry);
	double now_us = *at ? orr_sys_now_us() : 0, next_us = INFINITY;
	for (; *at; at = &(*at)->next) {
		if ((*at)->due_us <= now_us || (hurry && (*at)->expects))
			return group_end(mpi, at);
		next_us = fmin(next_us, (*at)->due_us);
	}
	if (hurry)
		ORR_ATOMIC_STORE(&mpi->late.hurry, 0);
	if (isfinite(next_us))
		wake_at(mpi, next_us);
	return NULL;
}

/* ---- a moment for others to come ---- */

int orr_mpi_late_expects(struct orr_mpi *mpi, struct orr_mpi_req *first)
{
	double moment_us = 0;

	if (first->grows && orr_mpi_mates(mpi, first, first))
		moment_us = orr_mpi_moment_us(orr_mpi_network(mpi), size_of(first));
	for (struct orr_mpi_group *g = mpi->late.groups; g; g = g->next) {
		if (!g->expects)
			continue;
		if (orr_mpi_mates(mpi, g->first, first)) {
			group_add(mpi, g, first);
			g->due_us = orr_sys_now_us() + moment_us;
			return 1;
		}
		g->due_us = 0;
	}
	if (!moment_us || mpi->late.leaving || mpi->late.lone)
		return 0;
	group_new(mpi, first, moment_us, 1);
	return 1;
}

/* ---- the value leaves ---- */

void orr_mpi_late_leaves(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	const struct orr_mpi_network *net = orr_mpi_network(mpi);

	if (!mpi->set.max_route || !orr_mpi_mates(mpi, req, req) ||
	    orr_mpi_bytes_us(net, req->size) < net->latency_us + net->overhead_us)
		return;
	req->lone = 1;
	req->link.next = mpi->late.lone ? &mpi->late.lone->link : NULL;
	mpi->late.lone = req;
}

void orr_mpi_late_left(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	struct orr_mpi_req *before = NULL, *at = mpi->late.lone;

	if (req->lone) {
		for (; at != req; at = req_of(at->link.next))
			before = at;
		if (before)
			before->link.next = req->link.next;
		else
			mpi->late.lone = req_of(req->link.next);
		req->link.next = NULL;
		req->lone = 0;
	}
	for (struct orr_mpi_group *g = mpi->late.groups; g; g = g->next)
		if (!g->expects && orr_mpi_mates(mpi, g->first, req))
			g->due_us = 0;
}

/* The sends of that value that are on their way by themselves. */
static uint32_t nlone(const struct orr_mpi *mpi, const struct orr_mpi_req *req)
{
	uint32_t n = 0;

	for (struct orr_mpi_req *at = mpi->late.lone; at; at = req_of(at->link.next))
		n += (uint32_t) orr_mpi_mates(mpi, at, req);
	return n;
}

int orr_mpi_late_waits(struct orr_mpi *mpi, struct orr_mpi_req *first, int leaves)
{
	const struct orr_mpi_network *net = orr_mpi_network(mpi);
	size_t bytes = size_of(first);
	struct orr_mpi_group *g;

	orr_mpi_assert_owner(mpi);
	if (first->waited)
		return 0;
	uint32_t lone = nlone(mpi, first);
	/* All go at once where no tree pays off. */
	if (!leaves &&
	    (!lone ||
	     !orr_mpi_plan(net, bytes, lone + length(first), 0, ORR_MPI_LEAVES_NOTHING).tree))
		return 0;
	g = group_of(mpi, first);
	if (g)
		group_add(mpi, g, first);
	else
		group_new(mpi, first,
			  PATIENCE * (mpi->limits.nsends *
					      (orr_mpi_bytes_us(net, bytes) + net->overhead_us) +
				      net->latency_us),
			  0);
	return 1;
}
