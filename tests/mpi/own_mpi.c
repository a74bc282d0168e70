/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program's own MPI calls between those of the runtime: point to point, collectives, its own
 * communicators. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h;
	MPI_Comm half;
	int value, sum;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	for (int i = 0; i < 20; i++) {
		set_int(h, i * 100 + rank);
		OK(starpu_mpi_isend_detached(h, to, i, MPI_COMM_WORLD, NULL, NULL));
		value = rank + i;
		if (rank == 0) {
			MPI_Send(&value, 1, MPI_INT, to, 42, MPI_COMM_WORLD);
			MPI_Recv(&value, 1, MPI_INT, from, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			int mine = value;
			MPI_Recv(&value, 1, MPI_INT, from, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&mine, 1, MPI_INT, to, 42, MPI_COMM_WORLD);
		}
		CHECK(value == from + i, "own message carried %d", value);
		OK(starpu_mpi_irecv_detached(h, from, i, MPI_COMM_WORLD, NULL, NULL));
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
		value = rank;
		MPI_Bcast(&value, 1, MPI_INT, 0, half);
		CHECK(value == rank % 2, "broadcast in a half gave %d", value);
		CHECK(int_of(h) == i * 100 + from, "got %d", int_of(h));
	}
	MPI_Comm_free(&half);
	starpu_data_unregister(h);
	return end();
}
