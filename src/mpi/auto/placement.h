/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of the rank that executes a task (placement.c).
 *
 * Invariant: all ranks that see the same task choose the same rank. */
#ifndef ORR_MPI_PLACEMENT_H
#define ORR_MPI_PLACEMENT_H

#include "starpu_mpi.h"

struct orr_mpi;
struct orr_mpi_comm;

void orr_mpi_placement_exit(struct orr_mpi *mpi);
/* The grounds on which a task's rank is chosen. */
struct orr_mpi_choice {
	int node;     /* EXECUTE_ON_NODE, -1 */
	int has_data; /* EXECUTE_ON_DATA was given: */
	starpu_data_handle_t data;
	int policy; /* STARPU_MPI_NODE_SELECTION_CURRENT_POLICY */
};
#define ORR_MPI_ELSEWHERE (-3) /* unknown here, but not this rank */
/* The executing rank, STARPU_MPI_PER_NODE for all, or ORR_MPI_ELSEWHERE. 0 or -EINVAL after a
 * message. */
int orr_mpi_place(struct orr_mpi *mpi, const struct orr_mpi_comm *c,
		  const struct orr_mpi_choice *choice, const struct starpu_data_descr *d,
		  unsigned n, struct starpu_codelet *cl, int *xrank);

#endif
