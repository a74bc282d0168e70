/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long a broadcast of 16 MiB from rank 0 takes, in microseconds, and whether it arrives: for
 * collectives.sh, which chooses its algorithm with --cfg. */
#include "../mpi/mpi_test.h"

#define SIZE (16 << 20)

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	char *data = calloc(SIZE, 1);
	CHECK(data, "no memory");
	if (rank == 0)
		memset(data, 7, SIZE);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime(), last, mine;
	MPI_Bcast(data, SIZE, MPI_BYTE, 0, MPI_COMM_WORLD);
	mine = MPI_Wtime() - start;
	CHECK(data[0] == 7 && data[SIZE - 1] == 7, "rank %d has not received", rank);
	MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("broadcast %.0f us\n", last * 1e6);
	free(data);
	return end();
}
