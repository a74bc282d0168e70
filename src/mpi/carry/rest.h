/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pauses of threads that find nothing to do (rest.c).
 *
 * Invariant: nobody rests while owning the engine. */
#ifndef ORR_MPI_REST_H
#define ORR_MPI_REST_H

#include "base/seam.h"

struct orr_mpi;

/* True if a request or message of this process is under way, so that an arrival or a completion is
 * expected. A hint. */
int orr_mpi_busy(const struct orr_mpi *mpi);
/* The expectation of a thread that found nothing to do. */
enum orr_mpi_outlook {
	ORR_MPI_EXPECTING, /* messages or completions */
	ORR_MPI_IDLE,      /* nothing of this process is under way */
	ORR_MPI_DRIVEN     /* another thread drives the engine, and rings when it stops */
};
void orr_mpi_rest_init(struct orr_mpi *mpi);
void orr_mpi_rest_exit(struct orr_mpi *mpi);
/* The engine's thread begins to poll. */
void orr_mpi_rest_begin(struct orr_mpi *mpi);
/* Something happened, or is about to: pauses are short again. */
void orr_mpi_stir(struct orr_mpi *mpi);
/* By the owner: a message made headway. Learns from how long that took, and pauses are short again.
 */
void orr_mpi_noticed(struct orr_mpi *mpi);
/* [waits] One pause: spins, yields or sleeps, as the time since something happened demands. Not
 * while owning the engine. */
void orr_mpi_rest(struct orr_mpi *mpi, enum orr_mpi_outlook outlook);
/* Something is expected: the dedicated thread must not sleep for long. */
void orr_mpi_expect(struct orr_mpi *mpi);
/* Wakes the engine, and threads that rest. Any thread, with locks held or not. */
void orr_mpi_ring(struct orr_mpi *mpi);

#endif
