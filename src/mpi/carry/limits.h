/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits of what may be under way: sends by number and bytes, and main memory for messages
 * (STARPU_MPI_NDETACHED_SEND, ORRERY_MPI_SEND_MIB, STARPU_MPI_MEM_THROTTLE,
 * STARPU_MPI_EARLYDATA_ALLOCATE).
 *
 * Invariant: nsends and send_bytes count the sends in the hands of the transport that are not
 * synchronous. A message that is denied memory stays at its sender, and its receive can always take
 * it from there. Memory is reserved for messages only that no receive was posted for. */
#ifndef ORR_MPI_LIMITS_H
#define ORR_MPI_LIMITS_H

#include "base/assert.h"
#include "mpi/carry/layer_parts.h"
#include "mpi/carry/request_record.h"
#include "trace/format.h"

struct orr_mpi;

/* Reads the variables. */
void orr_mpi_limits_init(struct orr_mpi *mpi);

/* By the engine's owner: whether the most urgent ready send (NULL: there is none) may start. */
static inline int orr_mpi_may_send(const struct orr_mpi_limits *l, const struct orr_mpi_req *first)
{
	if (!first)
		return 0;
	if (!l->nsends || first->sync)
		return 1;
	if (l->max_sends && l->nsends >= l->max_sends)
		return 0;
	return !l->max_send_bytes ||
	       l->send_bytes + starpu_data_get_size(first->acquire.access.handle) <=
		       l->max_send_bytes;
}

/* The limit that holds the ready sends, of which the most urgent one may not start. */
static inline enum orr_trace_hold orr_mpi_send_limit(const struct orr_mpi_limits *l)
{
	return l->max_sends && l->nsends >= l->max_sends ? ORR_HOLD_NUMBER : ORR_HOLD_BYTES;
}

/* By the engine's owner: a payload is in the hands of the transport, or has left them. */
static inline void orr_mpi_send_begins(struct orr_mpi_limits *l, size_t bytes)
{
	l->nsends++;
	l->send_bytes += bytes;
}

static inline void orr_mpi_send_ends(struct orr_mpi_limits *l, size_t bytes)
{
	orr_assert(l->nsends > 0 && l->send_bytes >= bytes);
	l->nsends--;
	l->send_bytes -= bytes;
}

/* True if the calling thread, which has posted a receive into h, must wait for main memory: h has
 * no buffer, the thread may wait, and all of the memory would be enough. */
int orr_mpi_must_await_room(struct orr_mpi *mpi, starpu_data_handle_t h);
/* [waits] Until main memory has room for h, or nothing is under way that could free memory. */
void orr_mpi_await_room(struct orr_mpi *mpi, starpu_data_handle_t h);

/* By the engine's owner: whether an early message stays at its sender for now. If not, memory for
 * it may have been reserved, until orr_mpi_early_unreserve. */
int orr_mpi_early_stays(struct orr_mpi *mpi, struct orr_mpi_early *e);
void orr_mpi_early_unreserve(struct orr_mpi_early *e);
/* The receive was posted: if memory is reserved for its message, the datum gets it. Returns whether
 * that is so. */
int orr_mpi_early_hand_over(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* [any] Main memory is exhausted: early messages give back what is reserved for them; what the
 * program asked for goes first. Returns whether there was any. */
int orr_mpi_early_yield(struct orr_mpi *mpi);

#endif
