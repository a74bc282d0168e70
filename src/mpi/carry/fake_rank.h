/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The account of a fake rank (STARPU_MPI_FAKE_RANK): what it inserted, would send and receive, and
 * holds. It is printed at the end.
 *
 * Invariant: only a fake rank has one (mpi->alone). */
#ifndef ORR_MPI_FAKE_RANK_H
#define ORR_MPI_FAKE_RANK_H

#include "mpi/carry/layer.h"

/* [main] 0, or -ENOMEM after a message. */
int orr_mpi_alone_init(struct orr_mpi *mpi);
void orr_mpi_alone_exit(struct orr_mpi *mpi);
/* [any] The program inserted a task that this rank executes. */
void orr_mpi_alone_inserted(struct orr_mpi *mpi);
/* [any] The program is about to wait: the tasks so far took until now. */
void orr_mpi_alone_pauses(struct orr_mpi *mpi);
/* [any] A receive is complete. */
void orr_mpi_alone_received(struct orr_mpi *mpi, const struct orr_mpi_req *req);
/* [any] The program has waited: now most memory is in use. */
void orr_mpi_alone_waited(struct orr_mpi *mpi);
/* [main] Prints the account. */
void orr_mpi_alone_report(struct orr_mpi *mpi);

#endif
