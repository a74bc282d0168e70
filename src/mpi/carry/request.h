/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests: making, freeing, and listing them (request_record.h says what they are).
 *
 * Invariant: a request that is in use is found by orr_mpi_reqs_foreach(). */
#ifndef ORR_MPI_REQUEST_H
#define ORR_MPI_REQUEST_H

#include "mpi/carry/request_record.h"

struct orr_mpi;

struct orr_mpi_req *orr_mpi_req_alloc(struct orr_mpi *mpi);
void orr_mpi_req_free(struct orr_mpi *mpi, struct orr_mpi_req *req);
void orr_mpi_reqs_exit(struct orr_mpi *mpi);
/* Calls f for every request in use; f may free it. By the engine's owner, while no other thread
 * makes requests. */
void orr_mpi_reqs_foreach(struct orr_mpi *mpi, void (*f)(struct orr_mpi_req *, void *), void *arg);
/* True if both sends are of one value and the runtime may send it along a tree. */
int orr_mpi_mates(const struct orr_mpi *mpi, const struct orr_mpi_req *a,
		  const struct orr_mpi_req *b);

#endif
