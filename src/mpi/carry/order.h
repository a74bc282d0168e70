/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of messages between two ranks, and the table of ranks that messages went to or came
 * from. By the engine's owner.
 *
 * Invariant: messages match in the order in which they were sent (order.c). */
#ifndef ORR_MPI_ORDER_H
#define ORR_MPI_ORDER_H

#include "base/seam_mpi.h"

struct orr_mpi;
struct orr_mpi_held;

/* A message came: matches or keeps it as soon as all that were sent before it have come. */
void orr_mpi_message_in(struct orr_mpi *mpi, const char *message, size_t bytes, int via);
void orr_mpi_order_exit(struct orr_mpi *mpi);
/* The engine stands still: messages are numbered from 0 again, ranks from mpi->size on do not
 * exist, but their statistics stay. */
void orr_mpi_order_switch(struct orr_mpi *mpi);

#endif
