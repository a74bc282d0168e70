/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends that come later than others of their value (late.c). By the engine's owner, but for what is
 * tagged [any].
 *
 * Invariant: a send that is kept here is not ready; it becomes so again by itself. */
#ifndef ORR_MPI_LATE_H
#define ORR_MPI_LATE_H

#include "mpi/carry/request_record.h"

struct orr_mpi;

/* A send, or a list of mates, is about to be ready: keeps it for a moment if others of its value
 * may come. Returns whether it was kept. */
int orr_mpi_late_expects(struct orr_mpi *mpi, struct orr_mpi_req *first);
/* The same is about to start: keeps it if its value is leaving, along a tree (leaves) or otherwise,
 * and it should wait for that. */
int orr_mpi_late_waits(struct orr_mpi *mpi, struct orr_mpi_req *first, int leaves);
/* The send has started, without a tree; the sends of a value have left. */
void orr_mpi_late_leaves(struct orr_mpi *mpi, struct orr_mpi_req *req);
void orr_mpi_late_left(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* [any] The calling thread is about to wait, so that no other send follows. Returns whether the
 * engine should look. */
int orr_mpi_late_hurry(struct orr_mpi *mpi);
/* A send, or a list of mates, that was kept long enough and can be ready; NULL: none just now. */
struct orr_mpi_req *orr_mpi_late_due(struct orr_mpi *mpi);

#endif
