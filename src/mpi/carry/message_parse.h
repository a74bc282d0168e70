/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of a message that travels first: the envelope, the route that ranks pass it on by, the
 * payload of a small one.
 *
 * Invariant: a message that was taken apart lies within its bytes, whatever they are; ranks that it
 * names exist. */
#ifndef ORR_MPI_MESSAGE_PARSE_H
#define ORR_MPI_MESSAGE_PARSE_H

#include "mpi/carry/route.h"

struct orr_mpi_message {
	struct orr_mpi_envelope env;
	struct orr_mpi_route route;     /* if env.flags has ORR_MPI_ROUTED */
	const struct orr_mpi_hop *hops; /* route.n of them; in the message, unaligned as it is */
	const char *payload;            /* behind them; of env.size bytes if it is eager */
	int origin;                     /* the rank that began to send it */
	size_t bytes;
};

/* The receiver, as far as messages are judged by it. */
struct orr_mpi_receiver {
	int rank, size;
};

/* [any] Takes the message apart that came from rank `via`. Returns NULL, or what is wrong with it:
 * the parts are undefined then. */
const char *orr_mpi_message_parse(struct orr_mpi_message *m, const char *message, size_t bytes,
				  int via, const struct orr_mpi_receiver *me);

#endif
