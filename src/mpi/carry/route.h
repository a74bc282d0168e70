/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The route of a message that ranks pass on (relay.h), as it travels.
 *
 * Invariant: the first entry of a route is its receiver; the others are in the order in which the
 * rank that began wants them served. */
#ifndef ORR_MPI_ROUTE_H
#define ORR_MPI_ROUTE_H

#include "mpi/carry/request_record.h"

/* Behind the envelope, followed by n entries, followed by the payload when eager. */
struct orr_mpi_route {
	int32_t origin; /* the rank that began, as the engine's world numbers it */
	uint16_t n;     /* entries, this receiver first; at most ORR_MPI_ROUTE_MAX */
	uint16_t arity; /* children of a rank; 0: a binomial tree; more: orr_mpi_split says */
	uint64_t piece; /* bytes of a piece of the payload */
};

struct orr_mpi_hop {
	int32_t rank;
	uint32_t seq; /* number of the message between the origin and this rank */
};

#define ORR_MPI_ROUTE_MAX 1024

_Static_assert(sizeof(struct orr_mpi_route) == 16 && sizeof(struct orr_mpi_hop) == 8 &&
		       ORR_TRANSPORT_LAYOUT == 1,
	       "another layout of routes has another ORR_TRANSPORT_LAYOUT");

#endif
