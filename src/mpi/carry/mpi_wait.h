/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for requests and for ranks (mpi_wait.c).
 *
 * Invariant: whoever learns here that a request is complete frees it. */
#ifndef ORR_MPI_MPI_WAIT_H
#define ORR_MPI_MPI_WAIT_H

#include "starpu_mpi.h"
#include "mpi/carry/request_record.h"

struct orr_mpi;

/* [waits] Until cond(arg), driving the engine where that is allowed. cond is called with no lock
 * held. what: the call, for the message if cond never holds; NULL: it will, or that is not known.
 */
void orr_mpi_wait_until(struct orr_mpi *mpi, int (*cond)(struct orr_mpi *, void *), void *arg,
			const char *what);
/* [waits] for a request, fills status, frees it. what: see orr_mpi_wait_until(). */
void orr_mpi_finish(struct orr_mpi *mpi, struct orr_mpi_req *req, MPI_Status *status,
		    const char *what);
void orr_mpi_wait_detached(struct orr_mpi *mpi, const char *what);
/* [waits] for these and for all tasks, which may submit each other. */
void orr_mpi_wait_everything(struct orr_mpi *mpi, const char *what);
/* [waits] for all processes of the communicator. 0, or -EIO after a message. */
int orr_mpi_barrier(struct orr_mpi *mpi, MPI_Comm comm);
/* True if a collective that the seam started is over. */
int orr_mpi_collective_test(struct orr_mpi *mpi, void *request);

#endif
