/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A token goes around by blocking sends and receives. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	enum { LOOPS = 30 };
	starpu_data_handle_t h;
	MPI_Status status;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	for (int loop = 0; loop < LOOPS; loop++) {
		if (!loop && !rank)
			set_int(h, 0);
		else {
			OK(starpu_mpi_recv(h, (rank + size - 1) % size, loop * size + rank,
					   MPI_COMM_WORLD, &status));
			CHECK(status.MPI_SOURCE == (rank + size - 1) % size &&
				      status.MPI_TAG == loop * size + rank,
			      "status %d %d", status.MPI_SOURCE, status.MPI_TAG);
		}
		OK(starpu_task_insert(&increment_cl, STARPU_RW, h, 0));
		if (loop < LOOPS - 1 || rank < size - 1)
			OK(starpu_mpi_send(h, (rank + 1) % size, loop * size + rank + 1,
					   MPI_COMM_WORLD));
	}
	if (rank == size - 1)
		CHECK(int_of(h) == LOOPS * size, "token is %d", int_of(h));
	starpu_data_unregister(h);
	return end();
}
