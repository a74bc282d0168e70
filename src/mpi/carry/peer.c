/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of ranks that messages went to or came from (see peer.h). */
#include "mpi/carry/peer.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"
#include "mpi/carry/layer.h"

struct orr_mpi_peer *orr_mpi_peer_of(struct orr_mpi *mpi, int rank)
{
	struct orr_mpi_peer *p = mpi->stats.last;

	orr_mpi_assert_owner(mpi);
	if (p && p->key == (uint64_t) rank)
		return p;
	p = mpi->stats.last = orr_map_find(&mpi->stats.peers, (uint64_t) rank);
	if (p)
		return p;
	orr_assert(rank >= 0 && rank < mpi->size);
	p = calloc(1, sizeof(*p));
	if (!p)
		orr_fatal("out of memory for the table of ranks");
	p->key = (uint64_t) rank;
	p->stats.peer = rank;
	orr_lock(&mpi->lock);
	if (orr_map_insert(&mpi->stats.peers, p))
		orr_fatal("out of memory for the table of ranks");
	orr_unlock(&mpi->lock);
	return p;
}

void orr_mpi_peers_exit(struct orr_mpi *mpi)
{
	for (uint32_t i = 0; i < mpi->stats.peers.cap; i++)
		free(orr_map_at(&mpi->stats.peers, i));
	orr_map_exit(&mpi->stats.peers);
	mpi->stats.last = NULL;
}
