/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI layer's answers to questions of the worlds and of the floors below (base/upcalls.h).
 *
 * Invariant: they are asked only while proc->mpi is set. */
#ifndef ORR_MPI_MPI_UPCALLS_H
#define ORR_MPI_MPI_UPCALLS_H

#include "base/upcalls.h"

/* Questions that the worlds may ask while proc->mpi is set. */
extern const struct orr_mpi_upcalls orr_mpi_upcalls;

#endif
