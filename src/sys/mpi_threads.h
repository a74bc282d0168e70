/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads that MPI starts in this process, and what it stands on (orr_sys_mpi_threads()). By
 * the program's thread.
 *
 * Invariant: see mpi_threads.c. */
#ifndef ORR_SYS_MPI_THREADS_H
#define ORR_SYS_MPI_THREADS_H

#include "base/seam_mpi.h"

/* Before MPI is initialised, and after all of it has begun that this process needs. */
void orr_real_mpi_threads_begin(const struct orr_process *proc);
void orr_real_mpi_threads_end(void);

#endif
