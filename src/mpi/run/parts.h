/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the MPI layer, in order. A new facility is a row in parts.c.
 *
 * Invariant: what a part keeps in the layer's struct is made by its begin, or is NULL until the
 * program uses it; its end, or its stop, gives it back. */
#ifndef ORR_MPI_PARTS_H
#define ORR_MPI_PARTS_H

#include "starpu_mpi.h"
#include "mpi/run/part_walk.h"

/* The communicator that the layer goes on with, or begins with. */
struct orr_mpi_change {
	MPI_Comm comm;     /* MPI_COMM_NULL: with none */
	const int *places; /* the numbers that ranks get in it, -1: none; NULL: the first ones keep
			      theirs */
};

extern const struct orr_mpi_part orr_mpi_parts[];
extern const unsigned orr_mpi_nparts;

#endif
