/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The communication statistics of a real run, on their way to the file that rank 0 writes
 * (mpi_report.c). By the program's thread, while no engine runs.
 *
 * Invariant: each count is kept by one process. */
#ifndef ORR_SYS_MPI_REPORT_H
#define ORR_SYS_MPI_REPORT_H

#include "base/seam_mpi.h"

/* [waits] Collective over comm, which the processes leave: keeps what this one sent as that rank. A
 * process that does not go on (next is MPI_COMM_NULL) gives what it keeps to the one that becomes
 * rank 0 of next. */
void orr_real_stats_keep(MPI_Comm comm, MPI_Comm next, const struct orr_mpi_peer_stats *peers,
			 unsigned n);
/* [waits] Collective over comm: can rank 0 write the file? Otherwise -errno on all ranks, after a
 * message of rank 0. */
int orr_real_stats_prepare(MPI_Comm comm, const char *path);
/* [waits] Collective over comm: rank 0 writes the file, with these last counts of each rank.
 * span_us: how long the program ran here. */
void orr_real_stats_write(MPI_Comm comm, const char *path, const struct orr_mpi_peer_stats *peers,
			  unsigned n, double span_us);
/* [waits] The same where the processes play single ranks of many: this one that rank of so many. */
void orr_real_stats_write_fake(MPI_Comm comm, const char *path, int rank, int size,
			       const struct orr_mpi_peer_stats *peers, unsigned n, double span_us);

#endif
