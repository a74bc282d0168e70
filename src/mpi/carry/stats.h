/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The statistics of messages (stats.c).
 *
 * Invariant: each message is counted once as it leaves, once as it is for somebody. */
#ifndef ORR_MPI_STATS_H
#define ORR_MPI_STATS_H

#include "starpu_mpi.h"

struct orr_mpi;
struct orr_mpi_peer;
struct orr_mpi_req;

/* Counts a message to the peer: that leaves for it (HOP), that is for it (LOGICAL), or both. */
enum { ORR_MPI_COUNT_HOP = 1, ORR_MPI_COUNT_LOGICAL = 2 };
void orr_mpi_count(struct orr_mpi *mpi, struct orr_mpi_peer *p, size_t bytes, unsigned what);

/* [owner] Counts a value that the peer sent for this rank, and that is here. */
void orr_mpi_count_received(struct orr_mpi *mpi, struct orr_mpi_peer *p, size_t bytes);
/* [any] The counts since the start by peer, of all that sent or got something; *n may be 0. To be
 * freed. NULL after a message when memory is exhausted. */
struct orr_mpi_peer_stats *orr_mpi_stats_all(struct orr_mpi *mpi, unsigned *n);

void orr_mpi_stats_report(struct orr_mpi *mpi);
/* [waits] The same before the layer goes on with another communicator, or without one. */
void orr_mpi_stats_switch(struct orr_mpi *mpi, MPI_Comm next);
void orr_mpi_trace(struct orr_mpi *mpi, const char *what, const struct orr_mpi_req *req);

#endif
