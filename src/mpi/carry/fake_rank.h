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
/* [any] The program is about to wait: the tasks so far took until now. */
void orr_mpi_alone_pauses(struct orr_mpi *mpi);
/* [owner] A receive is about to be complete, with the size that the datum has here. */
void orr_mpi_alone_received(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* [any] A reduction would go along a tree, in which this rank does not know its place. */
void orr_mpi_alone_reduces(struct orr_mpi *mpi);
/* [any] The program has inserted a task that this rank executes, or has waited: now much memory may
 * be in use. */
void orr_mpi_alone_waited(struct orr_mpi *mpi);
/* [main] Prints the account: sentences, and a table of its peers. */
void orr_mpi_alone_report(struct orr_mpi *mpi);

#endif
