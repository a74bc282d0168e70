/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clocks of several hosts compared over MPI (contract: base/seam_mpi.h), as Cristian,
 * Probabilistic clock synchronization (1989), does: rank 0 answers with its time, and of several
 * answers the one that came fastest counts, halfway. Ranks that have the clock of rank 0 ask
 * nobody: on a busy computer even the fastest answer takes a turn of other threads.
 *
 * Invariant: the error is at most half of the fastest round trip; one clock has none. */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/seam_mpi.h"

#define ROUNDS 20
#define TAG 1
#define BOOT_SIZE 36 /* characters of a UUID */
#define NAME_SIZE 96

static double clock_us(void)
{
	return orr_sys_origin_us() + orr_sys_now_us();
}

/* The name of this process's clock: the boot of the computer and the namespace of time. Empty where
 * it has none. */
static void name_clock(char name[NAME_SIZE])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(name, 0, NAME_SIZE);
	if (fd < 0)
		return;
	ssize_t n = read(fd, name, BOOT_SIZE);
	close(fd);
	if (n != BOOT_SIZE)
		memset(name, 0, NAME_SIZE);
	else if (readlink("/proc/self/ns/time", name + BOOT_SIZE, NAME_SIZE - BOOT_SIZE - 1) < 0)
		name[BOOT_SIZE] = '\0'; /* a kernel without such namespaces */
}

/* Collective. */
static int has_clock_of_first(MPI_Comm comm)
{
	char mine[NAME_SIZE], first[NAME_SIZE];

	name_clock(mine);
	memcpy(first, mine, NAME_SIZE);
	MPI_Bcast(first, NAME_SIZE, MPI_BYTE, 0, comm);
	return mine[0] && !memcmp(mine, first, NAME_SIZE);
}

static void answer(MPI_Comm comm, int rank)
{
	int has_it;

	MPI_Recv(&has_it, 1, MPI_INT, rank, TAG, comm, MPI_STATUS_IGNORE);
	for (int i = 0; i < ROUNDS && !has_it; i++) {
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
	int has_it = has_clock_of_first(comm);
	if (rank) {
		MPI_Send(&has_it, 1, MPI_INT, 0, TAG, comm);
		return has_it ? 0 : ask(comm, error_us);
	}
	for (int i = 1; i < size; i++)
		answer(comm, i);
	return 0;
}
