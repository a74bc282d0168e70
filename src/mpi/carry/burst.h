/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends of one value that are granted together, or that the program announced (burst.c).
 *
 * Invariant: a send that is handed over here reaches the engine once. */
#ifndef ORR_MPI_BURST_H
#define ORR_MPI_BURST_H

#include "base/seam.h"

struct orr_mpi;
struct orr_mpi_req;

/* Gives a send to the engine, or keeps it until the number of sends that the program announced is
 * there. Any thread. */
void orr_mpi_burst_submit(struct orr_mpi *mpi, struct orr_mpi_req *req, int will_drive);
/* Between begin and end, the sends that the calling thread grants are collected; at the end they go
 * to the engine together. Nests. */
void orr_mpi_burst_begin(struct orr_thread *self);
void orr_mpi_burst_end(struct orr_mpi *mpi, struct orr_thread *self);
/* Sends that wait for announced ones go on without them: the program waits. */
void orr_mpi_burst_flush(struct orr_mpi *mpi);

#endif
