/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number of tasks that write a datum, for load balancing (mpi/run/lb.c).
 *
 * Invariant: a rank counts a task exactly if it executes it. */
#ifndef ORR_MPI_HEAT_H
#define ORR_MPI_HEAT_H

#include "mpi/carry/layer.h"

/* [main] mpi->heat.counts is set, and a task of these data is inserted, which this rank executes.
 */
void orr_mpi_heat_note(struct orr_mpi *mpi, const struct starpu_data_descr *d, unsigned n);

#endif
