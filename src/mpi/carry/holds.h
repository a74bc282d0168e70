/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes that a rank holds, in the order of the program: the bytes of the data that it owns, and
 * of the values of others' data that it keeps (cache.c). A datum counts with the size that its
 * interface tells, whoever allocated its memory; pieces of a datum do not count beside it.
 * Insertions alone decide, so a fake rank comes to the same numbers as the rank of a run.
 *
 * Invariant: the largest value of a sum is never below the sum. */
#ifndef ORR_MPI_HOLDS_H
#define ORR_MPI_HOLDS_H

#include <stddef.h>
#include <stdint.h>

#include "starpu_mpi.h"

struct orr_mpi;

/* All are atomic. */
struct orr_mpi_holds {
	uint64_t own, own_most, copies, copies_most;
};

/* [any] Whether this rank owns the datum, and it counts. mpi may be NULL: it does not. */
int orr_mpi_holds_own(struct orr_mpi *mpi, starpu_data_handle_t h);
/* [any] The datum may have got another owner; before: what orr_mpi_holds_own() said then. */
void orr_mpi_holds_owner(struct orr_mpi *mpi, starpu_data_handle_t h, int before);
/* [any] The rank begins or ceases to keep the value of a datum of another. */
void orr_mpi_holds_copy(struct orr_mpi *mpi, starpu_data_handle_t h);
void orr_mpi_holds_no_copy(struct orr_mpi *mpi, starpu_data_handle_t h);
/* [any] The datum is being unregistered, with its owner and flags as they were. */
void orr_mpi_holds_end(struct orr_mpi *mpi, starpu_data_handle_t h);

#endif
