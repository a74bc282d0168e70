/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clocks of several hosts compared over MPI (contract: base/seam_mpi.h), as Cristian,
 * Probabilistic clock synchronization (1989), does: rank 0 answers with its time, and of several
 * answers the one that came fastest counts, halfway.
 *
 * Invariant: the error is at most half of the fastest round trip. */
#include <math.h>
#include "base/seam_mpi.h"

#define ROUNDS 20
#define TAG 1

static double clock_us(void)
{
	return orr_sys_origin_us() + orr_sys_now_us();
}

static void answer(MPI_Comm comm, int rank)
{
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Recv(NULL, 0, MPI_BYTE, rank, TAG, comm, MPI_STATUS_IGNORE);
		double now_us = clock_us();
		MPI_Send(&now_us, 1, MPI_DOUBLE, rank, TAG, comm);
	}
}

static double ask(MPI_Comm comm, double *error_us)
{
	double best_us = INFINITY, behind_us = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double then_us = clock_us(), theirs_us;
		MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, comm);
		MPI_Recv(&theirs_us, 1, MPI_DOUBLE, 0, TAG, comm, MPI_STATUS_IGNORE);
		double round_us = clock_us() - then_us;
		if (round_us < best_us) {
			best_us = round_us;
			behind_us = theirs_us - (then_us + round_us / 2);
		}
	}
	*error_us = best_us / 2;
	return behind_us;
}

double orr_sys_mpi_clock_behind_us(struct orr_process *proc, double *error_us)
{
	MPI_Comm comm = orr_sys_mpi_comm(proc);
	int rank, size;

	orr_assert_no_lock();
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	*error_us = 0;
	if (rank)
		return ask(comm, error_us);
	for (int i = 1; i < size; i++)
		answer(comm, i);
	return 0;
}
