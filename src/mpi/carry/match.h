/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Posting and matching: receives without message, messages without receive.
 *
 * Invariant: receives of a source and tag match in the order in which they were posted, messages in
 * the order in which they were sent. All under mpi->lock, but _exit. */
#ifndef ORR_MPI_MATCH_H
#define ORR_MPI_MATCH_H

#include "mpi/carry/request_record.h"

struct orr_mpi;

void orr_mpi_match_init(struct orr_mpi *mpi);
void orr_mpi_match_exit(struct orr_mpi *mpi);
/* Enters a receive: attaches the first message that fits, or else posts it. 0 or -ENOMEM. */
int orr_mpi_match_post(struct orr_mpi *mpi, struct orr_mpi_req *req);
void orr_mpi_match_withdraw(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* Takes out the receive that the envelope from `source` matches, NULL when there is none. */
struct orr_mpi_req *orr_mpi_match_request(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
					  int source);
/* A new message without payload; matched with req, or waiting for one when req is NULL. NULL when
 * memory is exhausted. */
struct orr_mpi_early *orr_mpi_early_new(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
					int source, struct orr_mpi_req *req);
/* Forgets a message that a request took; its buffer is the caller's. */
void orr_mpi_early_free(struct orr_mpi *mpi, struct orr_mpi_early *e);

#endif
