/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions over ranks (mpi_redux.c).
 *
 * Invariant: redux.nreduxing counts attached data with ORR_MPI_REDUXING. */
#ifndef ORR_MPI_MPI_REDUX_H
#define ORR_MPI_MPI_REDUX_H

#include "starpu_mpi.h"

struct orr_mpi;
struct orr_mpi_comm;
struct orr_mpi_req;

int orr_mpi_redux_note(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		       int xrank, int mpi_redux);
int orr_mpi_redux_flush(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			int prio, unsigned arity);
int orr_mpi_redux_flush_all(struct orr_mpi *mpi, struct orr_mpi_comm *c);

#endif
