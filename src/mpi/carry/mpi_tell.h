/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answers of the MPI layer about itself while the run goes on (base/live.h).
 *
 * Invariant: it changes nothing, and holds the layer's lock for one walk over the requests. */
#ifndef ORR_MPI_TELL_H
#define ORR_MPI_TELL_H

#include <stdio.h>

struct orr_process;

/* [any] See orr_mpi_upcalls.tell. */
void orr_mpi_tell(struct orr_process *proc, FILE *f, int all);

#endif
