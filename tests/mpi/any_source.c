/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Receives from any rank, before and after the message; the status tells from where. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h;
	MPI_Status status;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	for (int round = 0; round < 2; round++) {
		if (rank) {
			set_int(h, rank);
			OK(starpu_mpi_send(h, 0, 5 + round, MPI_COMM_WORLD));
		}
		if (round)
			OK(MPI_Barrier(MPI_COMM_WORLD));
		for (int i = 1, sum = 0; !rank && i < size; i++) {
			OK(starpu_mpi_recv(h, MPI_ANY_SOURCE, 5 + round, MPI_COMM_WORLD, &status));
			CHECK(int_of(h) == status.MPI_SOURCE, "%d came from %d", int_of(h),
			      status.MPI_SOURCE);
			sum += int_of(h);
			if (i == size - 1)
				CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
		}
	}
	starpu_data_unregister(h);
	return end();
}
