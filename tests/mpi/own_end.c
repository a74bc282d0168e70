/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of each rank by another way; own_end.sh compares what was printed. Lines are printed in
 * pieces while all ranks take turns.
 *
 * A rank that ends by main() or exit() runs its functions, the last one first, then its
 * destructors; _exit() runs none, quick_exit() only its own. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <unistd.h>
#include "mpi_test.h"

static void first(void)
{
	printf("rank %d: first function\n", rank);
}

static void second(void)
{
	printf("rank %d: second function\n", rank);
	fflush(stdout);
}

static void with_status(int status, void *arg)
{
	printf("rank %d: status %d, %s\n", rank, status, (const char *) arg);
}

static void quick(void)
{
	printf("rank %d: quick\n", rank);
	fflush(stdout);
}

static void __attribute__((destructor)) destructor(void)
{
	printf("rank %d: destructor\n", rank);
	fflush(stdout);
}

static void pieces(void)
{
	for (int line = 0; line < 5; line++) {
		printf("rank %d", rank);
		MPI_Barrier(MPI_COMM_WORLD);
		printf(" line");
		MPI_Barrier(MPI_COMM_WORLD);
		printf(" %d\nrank %d and", line, rank);
		MPI_Barrier(MPI_COMM_WORLD);
		printf(" more\n");
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pieces();
	CHECK(!atexit(first) && !atexit(second) && !at_quick_exit(quick));
	if (rank == 1)
		on_exit(with_status, (void *) "argument");
	printf("rank %d: ends", rank);
	MPI_Finalize();
	printf(" now\n");
	fflush(stdout);
	switch (rank) {
	case 1: exit(0);
	case 2: _exit(0);
	case 3: quick_exit(0);
	default: return 0;
	}
}
