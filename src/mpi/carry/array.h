/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A batch of detached messages with one callback for all of them (array.c).
 *
 * Invariant: the callback runs exactly once. */
#ifndef ORR_MPI_ARRAY_H
#define ORR_MPI_ARRAY_H

struct orr_mpi_batch;
/* NULL after a message when memory is exhausted. */
struct orr_mpi_batch *orr_mpi_batch_new(unsigned n, void (*callback)(void *), void *arg);
/* The callback of each message; its argument is the batch. */
void orr_mpi_batch_complete(void *batch);
/* All messages but `missing` were submitted. The callback runs here if they are complete already,
 * or else later; the batch is gone for the caller. Returns ret. */
int orr_mpi_batch_submitted(struct orr_mpi_batch *batch, unsigned missing, int ret);

#endif
