/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ORRERY_CHECK_INSERTS=1: ranks compare what they inserted (check_inserts.c).
 *
 * Invariant: mpi->check is set exactly if the ranks compare. */
#ifndef ORR_MPI_CHECK_INSERTS_H
#define ORR_MPI_CHECK_INSERTS_H

#include "mpi/carry/layer.h"

/* Sets mpi->check if the environment asks for it. */
void orr_mpi_check_init(struct orr_mpi *mpi);
void orr_mpi_check_exit(struct orr_mpi *mpi);
/* This rank inserts a task with n data. */
void orr_mpi_check_note(struct orr_mpi *mpi, const struct starpu_codelet *cl,
			const struct starpu_data_descr *d, unsigned n);
/* [waits] Collective over the engine's world. Ends the program after messages that name the first
 * difference, if there is one. */
void orr_mpi_check_compare(struct orr_mpi *mpi);

#endif
