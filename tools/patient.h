/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for messages that take long, for programs that measure networks: MPI itself spins, which
 * takes the cores of whoever else is on the computer, ranks that are measured among them.
 *
 * Invariant: what takes less than PATIENT_SPIN_US is waited for by spinning, and the rest is
 * noticed PATIENT_NAP_US late, which is a hundredth. A nap is too short for buffers of sockets to
 * run empty on a network whose messages take that long. */
#ifndef ORR_TOOLS_PATIENT_H
#define ORR_TOOLS_PATIENT_H

#include <sched.h>
#include <unistd.h>
#include <starpu_mpi.h>

enum { PATIENT_SPIN_US = 10000, PATIENT_NAP_US = 100 };

/* One after the other: GCC 12 takes MPICH's MPI_STATUSES_IGNORE for an array without room. */
static inline void patient_wait(MPI_Request *requests, int n)
{
	double start = starpu_timing_now();

	for (int i = 0, done = 0; i < n; i += done) {
		MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
		if (done)
			continue;
		if (starpu_timing_now() - start < PATIENT_SPIN_US)
			sched_yield();
		else
			usleep(PATIENT_NAP_US);
	}
}

static inline void patient_send(const char *buf, int bytes, int peer, int tag)
{
	MPI_Request request;

	MPI_Isend(buf, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
	patient_wait(&request, 1);
}

static inline void patient_recv(char *buf, int bytes, int peer, int tag)
{
	MPI_Request request;

	MPI_Irecv(buf, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
	patient_wait(&request, 1);
}

static inline void patient_barrier(void)
{
	MPI_Request request;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	patient_wait(&request, 1);
}

#endif
