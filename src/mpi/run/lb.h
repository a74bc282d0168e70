/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load balancing between ranks, as the rest of the MPI layer sees it; by the program's thread.
 *
 * Invariant: a rank counts a task exactly if it executes it. */
#ifndef ORR_MPI_LB_H
#define ORR_MPI_LB_H

#include "mpi/carry/layer.h"

/* Stops it, if it runs. */
void orr_mpi_lb_exit(struct orr_mpi *mpi);

#endif
