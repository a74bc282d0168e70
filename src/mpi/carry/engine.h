/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The progression engine.
 *
 * Who runs it: one party at a time, its owner (orr_mpi_own). Where threads that wait may drive
 * (orr_sys_mpi_may_drive), that is the thread that made itself its owner: the dedicated thread, a
 * waiting thread, or a thread that just made a request ready; nobody sleeps while owning it.
 * Elsewhere it is always the engine's actor, which blocks in the `wait` of its transport.
 *
 * Invariant: what is the engine's owner's is touched by the owner only (orr_mpi_assert_owner). */
#ifndef ORR_MPI_ENGINE_H
#define ORR_MPI_ENGINE_H

#include "base/seam.h"
#include "mpi/carry/request_record.h"

struct orr_mpi;

int orr_mpi_engine_start(struct orr_mpi *mpi);
void orr_mpi_engine_stop(struct orr_mpi *mpi);
/* Gives requests whose data are available to the engine, and sees to it that the engine takes them:
 * `newest`, linked by link.next down to `oldest`. Any thread. */
void orr_mpi_submit_list(struct orr_mpi *mpi, struct orr_mpi_req *newest,
			 struct orr_mpi_req *oldest, int will_drive);
void orr_mpi_submit(struct orr_mpi *mpi, struct orr_mpi_req *req, int will_drive);
/* Gives the engine back, and takes care of what came in meanwhile. */
void orr_mpi_unown(struct orr_mpi *mpi);
/* One turn, by the owner, that waits for nothing. Returns how many things happened. */
int orr_mpi_progress(struct orr_mpi *mpi);

#endif
