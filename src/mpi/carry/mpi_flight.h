/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Flights: what the engine knows about a message in the hands of the transport. By the engine's
 * owner.
 *
 * Invariant: a flight that was made ends once. */
#ifndef ORR_MPI_MPI_FLIGHT_H
#define ORR_MPI_MPI_FLIGHT_H

#include "mpi/carry/flight_record.h"

struct orr_mpi;

/* A flight, which the caller posts. */
struct orr_parcel *orr_mpi_fly(struct orr_mpi *mpi, int kind, struct orr_mpi_req *req,
			       struct orr_mpi_early *early, void *buf);
/* A flight of a relay. */
struct orr_parcel *orr_mpi_fly_relay(struct orr_mpi *mpi, int kind, struct orr_mpi_relay *r,
				     uint32_t piece, void *buf);
/* A flight to the peer begins: the pair is active until orr_mpi_fly_end(). */
void orr_mpi_active_begin(struct orr_mpi *mpi, struct orr_parcel *parcel, struct orr_mpi_peer *p);
/* It was reported, and what it was for is done. */
void orr_mpi_fly_end(struct orr_mpi *mpi, struct orr_mpi_flight *f);

#endif
