/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Flights: messages in the hands of the transport.
 *
 * Invariant: flights.n counts the flights that are not on the free list. */
#ifndef ORR_MPI_FLIGHT_RECORD_H
#define ORR_MPI_FLIGHT_RECORD_H

#include "mpi/carry/request_record.h"

struct orr_mpi_peer;

/* A message in the hands of the transport, or on the free list. */
struct orr_mpi_flight {
	struct orr_parcel flight; /* first */
	enum {
		ORR_FLIGHT_OUT,
		ORR_FLIGHT_DATA_IN,
		ORR_FLIGHT_EARLY_IN,
		ORR_FLIGHT_ROUTE_OUT, /* an envelope with its route, and payload when eager */
		ORR_FLIGHT_PIECE_OUT,
		ORR_FLIGHT_PIECE_IN,
		ORR_FLIGHT_ASIDE_OUT /* of mpi_stall.c or stuck.c: buf is freed, and that is all */
	} kind;
	uint32_t piece; /* its number */
	struct orr_mpi_req *req;
	union {
		struct orr_mpi_early *early;
		struct orr_mpi_relay *relay; /* of the last three */
	};
	void *buf;               /* envelope to free at the end */
	struct orr_mpi_peer *to; /* the pair is active meanwhile; NULL: this counts for none */
	struct orr_mpi_flight *next;
};

struct orr_mpi_flights {
	struct orr_mpi_flight *free;
	int n;             /* read by others as a hint, hence written atomically */
	uint32_t data_seq; /* the number of the next payload */
};

#endif
