/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of all communication (unmatched.c).
 *
 * Invariant: collective over the engine's world, by the program's thread at the end. */
#ifndef ORR_MPI_UNMATCHED_H
#define ORR_MPI_UNMATCHED_H

#include "mpi/carry/layer.h"

/* [waits] Until all tasks and communications of all ranks are complete, or none can go on any more.
 * 0, or -EIO after a message. */
int orr_mpi_settle(struct orr_mpi *mpi);
/* After orr_mpi_settle: reports messages without receive and receives without message, ends the
 * latter. Ends the program if tasks wait for them, or if it was asked to. */
void orr_mpi_report_unmatched(struct orr_mpi *mpi);
/* [waits] Adds up n numbers of all ranks. 0, or -EIO after a message. */
int orr_mpi_sum(struct orr_mpi *mpi, const uint64_t *mine, uint64_t *all, int n);
/* The same in two steps; mine and all stay until the second one is over. [waits] A simulated run
 * waits in the first one already. */
int orr_mpi_sum_start(struct orr_mpi *mpi, const uint64_t *mine, uint64_t *all, int n,
		      MPI_Request *request);
void orr_mpi_sum_finish(struct orr_mpi *mpi, MPI_Request *request);
/* [waits] The same over the processes of another communicator. */
int orr_mpi_sum_over(struct orr_mpi *mpi, MPI_Comm comm, const uint64_t *mine, uint64_t *all,
		     int n);

#endif
