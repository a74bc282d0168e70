/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program whose rank 1 ends before its time, in the way that the argument says, while the others
 * need it. Driven by ends.sh.
 *
 * Invariant: never ends with status 0 by itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	int *volatile nowhere = (int *) 8; /* the compiler must not know what it points to */
	int rank, flag = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	/* More than a buffer of standard output, which begins to be written within a line. */
	for (int i = 0; !strcmp(how, "lines") && i < 300; i++)
		printf("rank %d: line %d, which ends here\n", rank, i);
	if (rank == 1) {
		if (!strcmp(how, "exit") || !strcmp(how, "poll") || !strcmp(how, "lines"))
			exit(3);
		if (!strcmp(how, "abort"))
			abort();
		if (!strcmp(how, "mpi-abort"))
			MPI_Abort(MPI_COMM_WORLD, 7);
		if (!strcmp(how, "crash"))
			*nowhere = 1;
		return 0;
	}
	while (!strcmp(how, "poll") && !flag)
		MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	return 4;
}
