/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transports of the real world: MPI (mpi_real.c); UCX (mpi_ucx.c), which leaves to MPI the
 * ranks that do not have it; and on top of either copies between the memories of ranks of one host
 * (mpi_shm.c). mpi_transports.c chooses.
 *
 * Invariant: each transport hands on what it does not take to the one below it, and MPI takes
 * everything. */
#ifndef ORR_SYS_MPI_TRANSPORTS_H
#define ORR_SYS_MPI_TRANSPORTS_H

#include "base/seam_mpi.h"

/* [waits] Collective over comm, the engine's: reads ORRERY_TRANSPORT, and asks the ranks about
 * themselves. 0, or -EINVAL after a message. orr_sys_mpi_transport() gives the choice. */
int orr_real_transports_init(MPI_Comm comm, int rank, int size);
/* [waits] Collective over comm. */
void orr_real_transports_exit(MPI_Comm comm);

/* mpi_build.c. [waits] Collective over comm, before everything else that is exchanged over it: ends
 * all ranks (those of to_abort), after a message of rank 0, where they do not have the same build
 * of the library. */
void orr_real_check_build(MPI_Comm comm, MPI_Comm to_abort, int rank, int size);

/* mpi_real.c */
const struct orr_transport *orr_real_mpi_transport(void);
int orr_real_mpi_envelope_tag(void);

/* mpi_ucx.c, or mpi_ucx_none.c where configure found no UCX. [waits] Collective. 0, also where this
 * rank finds no UCX, which a warning says; or -EINVAL after a message. */
int orr_real_ucx_init(MPI_Comm comm, int rank, int size);
void orr_real_ucx_exit(MPI_Comm comm);
/* NULL if no other rank can be reached by UCX. */
const struct orr_transport *orr_real_ucx_transport(void);

/* mpi_shm.c. [waits] Collective: finds out whether the ranks of this host can reach each other's
 * memory; everything else goes to the transport `below`. named: the user asks for it by name. */
void orr_real_shm_init(MPI_Comm comm, int rank, int named, const struct orr_transport *below);
void orr_real_shm_exit(void);
/* NULL if there is nobody to reach. */
const struct orr_transport *orr_real_shm_transport(void);

#endif
