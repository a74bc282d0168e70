/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transports of the real world: MPI (mpi_real.c), and on top of it copies between the memories
 * of ranks of one host (mpi_shm.c).
 *
 * Invariant: MPI carries everything that no other transport takes. */
#ifndef ORR_SYS_MPI_SHM_H
#define ORR_SYS_MPI_SHM_H

#include "base/seam_mpi.h"

/* Reads ORRERY_TRANSPORT. [waits] Collective over comm, the engine's: finds out whether the ranks
 * of this host can reach each other's memory. 0, or -EINVAL after a message. */
int orr_real_shm_init(MPI_Comm comm, int rank);
void orr_real_shm_exit(void);

/* mpi_real.c */
const struct orr_transport *orr_real_mpi_transport(void);
int orr_real_mpi_envelope_tag(void);

#endif
