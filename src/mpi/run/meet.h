/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes of an elastic run meet before the runtime uses a communicator (meet.c).
 *
 * Invariant: if one process of the communicator refuses, all do. */
#ifndef ORR_MPI_MEET_H
#define ORR_MPI_MEET_H

#include "mpi/carry/layer.h"

/* True if the processes of this communicator meet: the run is elastic, and MPI is up, in all of
 * them or in none. Only MPI knows the members. */
int orr_mpi_meets(MPI_Comm comm);
/* [waits] The process is about to begin with this communicator, unless ret is not 0. 0, ret, or
 * -ECANCELED after a message because another process refuses; -EIO. *begun_us: when the run began
 * that the process joins, by its orr_sys_now_us(); INFINITY if it joins none. */
int orr_mpi_meet_beginning(struct orr_process *proc, MPI_Comm comm, int ret, double *begun_us);
/* [waits] The same of a rank that is about to go on with a communicator of new processes. */
int orr_mpi_meet_staying(struct orr_mpi *mpi, MPI_Comm comm, int ret);

#endif
