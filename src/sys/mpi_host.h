/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ranks of one host. The system knows; an MPI may not: MPICH 5 with UCX says of each rank
 * that it shares memory with nobody.
 *
 * Invariant: ranks that can reach each other's processes by their numbers, over one network, are of
 * one host. */
#ifndef ORR_SYS_MPI_HOST_H
#define ORR_SYS_MPI_HOST_H

#include <mpi.h>
#include <stdint.h>

/* Numbers that are equal for processes that have one loopback interface, and for those of them that
 * have one numbering of processes. */
void orr_real_identify_host(uint64_t *network, uint64_t *pids);
/* [waits] Collective: the ranks of this host, in the order of comm. The caller frees it. */
MPI_Comm orr_real_neighbours(MPI_Comm comm);

#endif
