/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Flights: what the engine knows about a message in the hands of the transport.
 *
 * Invariant: mpi->flights.n counts the flights that are not on the free list; by the engine's
 * owner.
 */
#include <stdlib.h>
#include "base/assert.h"
#include "base/log.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/mpi_flight.h"

struct orr_parcel *orr_mpi_fly(struct orr_mpi *mpi, int kind, struct orr_mpi_req *req,
			       struct orr_mpi_early *early, void *buf)
{
	struct orr_mpi_flight *f = mpi->flights.free;

	orr_mpi_assert_owner(mpi);
	if (f)
		mpi->flights.free = f->next;
	else if (!(f = malloc(sizeof(*f))))
		orr_fatal("out of memory for %d messages in flight", mpi->flights.n + 1);
	ORR_ATOMIC_STORE_RELAXED(&mpi->flights.n, mpi->flights.n + 1);
	f->kind = kind;
	f->req = req;
	f->early = early;
	f->buf = buf;
	f->to = NULL;
	return &f->flight;
}

struct orr_parcel *orr_mpi_fly_relay(struct orr_mpi *mpi, int kind, struct orr_mpi_relay *r,
				     uint32_t piece, void *buf)
{
	struct orr_parcel *flight = orr_mpi_fly(mpi, kind, NULL, NULL, buf);
	struct orr_mpi_flight *f = (struct orr_mpi_flight *) flight;

	f->relay = r;
	f->piece = piece;
	return flight;
}

/* ---- times in which a pair is active ---- */

void orr_mpi_active_begin(struct orr_mpi *mpi, struct orr_parcel *parcel, struct orr_mpi_peer *p)
{
	orr_mpi_assert_owner(mpi);
	((struct orr_mpi_flight *) parcel)->to = p;
	if (!p->nactive++ && mpi->stats.counts_time)
		p->active_since_us = orr_sys_now_us();
}

static void active_end(struct orr_mpi *mpi, struct orr_mpi_peer *p)
{
	orr_mpi_assert_owner(mpi);
	orr_assert(p->nactive > 0);
	if (--p->nactive || !mpi->stats.counts_time)
		return;
	double us = orr_sys_now_us() - p->active_since_us;
	orr_lock(&mpi->lock);
	p->stats.active_us += us;
	orr_unlock(&mpi->lock);
}

void orr_mpi_fly_end(struct orr_mpi *mpi, struct orr_mpi_flight *f)
{
	if (f->to)
		active_end(mpi, f->to);
	f->next = mpi->flights.free;
	mpi->flights.free = f;
}
