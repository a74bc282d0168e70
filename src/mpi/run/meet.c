/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes of an elastic run meet before the runtime begins with a communicator, or goes on
 * with one that has new processes: each says whether it can. So nobody waits for a process that
 * refuses. Other runs do not meet: all of their ranks begin together.
 *
 * Invariant: if one process of the communicator refuses, all do. */
#include "mpi/run/meet.h"

#include <errno.h>
#include <math.h>
#include "base/log.h"
#include "mpi/carry/unmatched.h"
#include "mpi/carry/message_trace.h"

/* The numbers that are summed up, before builds are compared, so in all versions the same: ranks
 * that go on and refuse; from rank 0, the number of the first new process and the microseconds
 * since the run began; processes that begin and refuse. */
enum { STAYING, FIRST_NEW, AGE_US, BEGINNING, NSUMS };

int orr_mpi_meets(MPI_Comm comm)
{
	int up = 0;

	if (!orr_sys_mpi_elastic())
		return 0;
	MPI_Initialized(&up);
	return up && comm != MPI_COMM_NULL;
}

int orr_mpi_meet_beginning(struct orr_process *proc, MPI_Comm comm, int ret, double *begun_us)
{
	uint64_t mine[NSUMS] = { [BEGINNING] = ret != 0 }, all[NSUMS];
	MPI_Request request;
	int rank;

	*begun_us = INFINITY;
	if (!orr_mpi_meets(comm))
		return ret;
	MPI_Comm_rank(comm, &rank);
	if (orr_sys_mpi_sum_start(proc, comm, mine, all, NSUMS, &request) ||
	    MPI_Wait(&request, MPI_STATUS_IGNORE))
		return -EIO;
	if (all[FIRST_NEW])
		*begun_us = orr_sys_now_us() - (double) all[AGE_US];
	int refusing = (int) (all[STAYING] + all[BEGINNING]);
	if (ret || !refusing)
		return ret;
	if (rank == (int) all[FIRST_NEW])
		orr_error(
			"starpu_mpi_init: %d of the processes of the communicator refuse it; see their messages. A process that was started for it has nothing to do and ends",
			refusing);
	return -ECANCELED;
}

int orr_mpi_meet_staying(struct orr_mpi *mpi, MPI_Comm comm, int ret)
{
	uint64_t mine[NSUMS] = { [STAYING] = ret != 0 }, all[NSUMS];
	int rank;

	if (!orr_mpi_meets(comm))
		return ret;
	MPI_Comm_rank(comm, &rank);
	if (!rank) {
		mine[FIRST_NEW] = (uint64_t) mpi->size;
		mine[AGE_US] = (uint64_t) (orr_sys_now_us() - mpi->start_us);
	}
	if (orr_mpi_sum_over(mpi, comm, mine, all, NSUMS))
		return -EIO;
	if (ret || !all[BEGINNING])
		return ret;
	if (!rank)
		orr_error(
			"orrery_resize_switch: the communicator cannot change, because %d of its new processes refuse; see their messages",
			(int) all[BEGINNING]);
	return -ECANCELED;
}
