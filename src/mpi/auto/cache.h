/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Received values that are kept, and what was sent to whom (cache.c).
 *
 * Invariant: sender and receiver of a value come to the same answer at the same insertion. */
#ifndef ORR_MPI_CACHE_H
#define ORR_MPI_CACHE_H

#include "starpu_mpi.h"

struct orr_mpi;

int orr_mpi_sent_set(struct orr_mpi *mpi, starpu_data_handle_t h,
		     int dest); /* the former state, or -errno */
void orr_mpi_sent_clear(struct orr_mpi *mpi, starpu_data_handle_t h);
int orr_mpi_received_set(struct orr_mpi *mpi, starpu_data_handle_t h);
/* The value that was received, if any, is none of another rank's any more. */
void orr_mpi_received_end(struct orr_mpi *mpi, starpu_data_handle_t h);
/* Forgets and frees the received value, after the tasks that use it. */
void orr_mpi_received_drop(struct orr_mpi *mpi, starpu_data_handle_t h);
/* No rank from n on has a received value of the datum, or may hold one of it (on the owner). */
void orr_mpi_cache_release(struct orr_mpi *mpi, starpu_data_handle_t h, int n);
/* Forgets the copy that this rank, not the owner, has just written, and frees it after the tasks
 * and messages that use it. */
void orr_mpi_written_drop(struct orr_mpi *mpi, starpu_data_handle_t h);
/* Forgets who holds the value (on the owner), or the received value (elsewhere). */
void orr_mpi_forget(struct orr_mpi *mpi, starpu_data_handle_t h, int me);
/* The same because a task of another rank writes the datum. */
void orr_mpi_overwritten(struct orr_mpi *mpi, starpu_data_handle_t h, int me);

#endif
