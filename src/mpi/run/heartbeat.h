/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The heartbeat between the ranks of a real run: a rank that is lost, with its host or alone, is
 * named within ORRERY_HEARTBEAT_TIMEOUT, and the run ends (detector.h says how it is found out).
 *
 * A thread of its own sends and receives. It runs while all workers compute and while the engine's
 * thread is kept by a callback, and stops with the process: that is what alive means here. No call
 * of MPI is made but the last one, which ends the run, because a cut link can stop MPI.
 *
 * There is none in a simulated run, where links and ranks do not fail in this way, with one rank,
 * for a fake rank, and in an elastic run, whose registry watches the processes.
 *
 * Invariant: the thread is there from the beginning of the layer in a communicator to its end in
 * it, and nobody else touches the detector. */
#ifndef ORR_MPI_HEARTBEAT_H
#define ORR_MPI_HEARTBEAT_H

struct orr_mpi;
struct orr_mpi_change;

/* Duties of a part (part_walk.h). */
int orr_mpi_heartbeat_begin(struct orr_mpi *mpi, const struct orr_mpi_change *to);
void orr_mpi_heartbeat_leave(struct orr_mpi *mpi, const struct orr_mpi_change *to);
void orr_mpi_heartbeat_enter(struct orr_mpi *mpi, const struct orr_mpi_change *to);
/* Also as the stop. */
void orr_mpi_heartbeat_end(struct orr_mpi *mpi);

#endif
