/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends and receives of data (p2p.c).
 *
 * Invariant: every public send and receive is one of these. */
#ifndef ORR_MPI_P2P_H
#define ORR_MPI_P2P_H

#include "mpi/carry/comm_record.h"
#include "mpi/carry/request_record.h"

struct orr_mpi;
struct orr_mpi_plan_awaited;
struct orr_mpi_plan_out;

enum {
	ORR_P2P_SYNC = 1,
	ORR_P2P_DETACHED = 2,
	ORR_P2P_UNORDERED = 4,
	ORR_P2P_BLOCKING = 8,
	/* [waits] With STARPU_MPI_MEM_THROTTLE, until main memory has room for the datum. */
	ORR_P2P_THROTTLED = 16,
	/* A send of an insertion, which the next ones may repeat to other ranks. */
	ORR_P2P_GROWS = 32
};
int orr_mpi_isend(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int dest,
		  int64_t tag, int prio, int how, void (*callback)(void *), void *arg,
		  struct orr_mpi_req **out);
int orr_mpi_irecv(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int source,
		  int64_t tag, int prio, int how, void (*callback)(void *), void *arg,
		  struct orr_mpi_req **out);
/* Sends a plan, which is freed then, or awaits the one of the datum with that tag:
 * callback(awaited) finds it there. h gives the request a name. 0 or -errno after a message. */
int orr_mpi_plan_send(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		      int64_t tag, struct orr_mpi_plan_out *plan);
int orr_mpi_plan_await(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		       int owner, int64_t tag, void (*callback)(void *),
		       struct orr_mpi_plan_awaited *awaited);

#endif
