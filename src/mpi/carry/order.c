/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of messages between two ranks.
 *
 * MPI keeps the order of the messages that one rank sends to another itself, but those that other
 * ranks pass on (relay.c) may overtake them, or be overtaken. So each message has a number between
 * the rank that began to send it and the one that receives it, and one that comes too soon waits
 * here. All ranks on a route get their numbers at once, so the first message of a rank that has not
 * come anywhere yet waits for none: no two ranks wait for each other.
 *
 * Invariant: the messages of a peer are matched with numbers 0, 1, 2, ...; held ones are sorted and
 * have numbers above. */
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/relay.h"
#include "mpi/carry/mpi_transfer.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/message_parse.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/order.h"
#include "mpi/carry/peer.h"

/* A message that overtook another one. */
struct orr_mpi_held {
	struct orr_mpi_held *next;
	uint32_t seq;
	int via;
	size_t bytes;
	char message[]; /* with the route and an eager payload */
};

/* Drops the messages of a peer that wait for others. */
static void drop_held(struct orr_mpi_peer *p)
{
	while (p->held) {
		struct orr_mpi_held *next = p->held->next;
		free(p->held);
		p->held = next;
	}
}

void orr_mpi_order_exit(struct orr_mpi *mpi)
{
	for (uint32_t i = 0; i < mpi->stats.peers.cap; i++)
		if (orr_map_at(&mpi->stats.peers, i))
			drop_held(orr_map_at(&mpi->stats.peers, i));
	orr_mpi_peers_exit(mpi);
}

/* A rank that sends what nobody understands is of another build, or its memory is damaged. */
static void take_apart(const struct orr_mpi *mpi, struct orr_mpi_message *m, const char *message,
		       size_t bytes, int via)
{
	const char *wrong = orr_mpi_message_parse(
		m, message, bytes, via,
		&(struct orr_mpi_receiver){ .rank = mpi->rank, .size = mpi->size });

	if (wrong)
		orr_fatal(
			"a message of %zu bytes from rank %d cannot be understood: %s; is that rank of the same build, and is its memory whole?",
			bytes, via, wrong);
}

static void enter(struct orr_mpi *mpi, const struct orr_mpi_message *p, int via)
{
	if (p->env.flags & ORR_MPI_ROUTED)
		orr_mpi_relay_in(mpi, &p->env, &p->route, p->hops, p->payload, via);
	else
		orr_mpi_envelope_in(mpi, &p->env, p->payload, via);
}

static void hold(struct orr_mpi_peer *peer, const struct orr_mpi_message *p, const char *message,
		 int via)
{
	struct orr_mpi_held *h = malloc(sizeof(*h) + p->bytes), **at = &peer->held;

	if (!h)
		orr_fatal("out of memory for a message that overtook another one");
	h->seq = p->env.seq;
	h->via = via;
	h->bytes = p->bytes;
	memcpy(h->message, message, p->bytes);
	while (*at && (int32_t) ((*at)->seq - h->seq) < 0)
		at = &(*at)->next;
	h->next = *at;
	*at = h;
}

void orr_mpi_message_in(struct orr_mpi *mpi, const char *message, size_t bytes, int via)
{
	struct orr_mpi_message p;

	take_apart(mpi, &p, message, bytes, via);
	struct orr_mpi_peer *peer = orr_mpi_peer_of(mpi, p.origin);
	struct orr_mpi_held *h;

	orr_mpi_assert_owner(mpi);
	mpi->counts.nreceived++;
	orr_assertf((int32_t) (p.env.seq - peer->nfrom) >= 0, "message %u of rank %d came twice",
		    p.env.seq, p.origin);
	if (p.env.seq != peer->nfrom) {
		hold(peer, &p, message, via);
		orr_mpi_trace_message_held(mpi, ORR_HOLD_ORDER, p.origin, p.env.seq);
		return;
	}
	peer->nfrom++;
	enter(mpi, &p, via);
	while ((h = peer->held) && h->seq == peer->nfrom) {
		peer->held = h->next;
		peer->nfrom++;
		take_apart(mpi, &p, h->message, h->bytes, h->via);
		orr_mpi_trace_message_held(mpi, ORR_HOLD_ORDER | ORR_TRACE_GOES_ON, p.origin,
					   p.env.seq);
		enter(mpi, &p, h->via);
		free(h);
	}
}

void orr_mpi_order_switch(struct orr_mpi *mpi)
{
	orr_lock(&mpi->lock);
	for (uint32_t i = 0; i < mpi->stats.peers.cap; i++) {
		struct orr_mpi_peer *p = orr_map_at(&mpi->stats.peers, i);
		if (!p)
			continue;
		orr_assertf(!p->held, "messages are held while all is at rest");
		p->nto = p->nfrom = 0;
	}
	orr_unlock(&mpi->lock);
	mpi->counts.nsent = mpi->counts.nreceived = 0;
	mpi->flights.data_seq = 0;
}
