/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of ranks that messages went to or came from. By the engine's owner, who alone enters
 * them; others read the statistics under mpi->lock.
 *
 * Invariant: a peer that was entered stays until the layer ends. */
#ifndef ORR_MPI_PEER_H
#define ORR_MPI_PEER_H

struct orr_mpi;
struct orr_mpi_peer;

/* The peer of that rank of the engine's world, entered at its first use. */
struct orr_mpi_peer *orr_mpi_peer_of(struct orr_mpi *mpi, int rank);
/* The layer ends. */
void orr_mpi_peers_exit(struct orr_mpi *mpi);

#endif
