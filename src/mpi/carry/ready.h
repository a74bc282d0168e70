/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sends that wait to start: a heap, most urgent first. By the engine's owner.
 *
 * Invariant: a request is in the heap exactly while it is READY and nobody starts it. */
#ifndef ORR_MPI_READY_H
#define ORR_MPI_READY_H

#include "mpi/carry/request_record.h"

struct orr_mpi;

/* Puts a granted send, or a list of mates that begins with it, among those that wait to start. By
 * the engine's owner. */
void orr_mpi_ready_push(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* Takes out the most urgent one, with its mates; there must be one. */
struct orr_mpi_req *orr_mpi_ready_pop(struct orr_mpi *mpi);
/* The engine has stopped. */
void orr_mpi_ready_exit(struct orr_mpi *mpi);
/* The first one is to start before the second one. */
static inline int orr_mpi_ready_before(const struct orr_mpi_req *a, const struct orr_mpi_req *b)
{
	return a->prio != b->prio ? a->prio > b->prio : a->seq < b->seq;
}

#endif
