/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task waits for a message that nobody sends: the program ends with an error that names both.
 * orr-test: expect rank 1: no message came for 1 receive: from rank 0, tag 3, .*"awaited"
 * orr-test: expect 1 tasks and 2 communications wait for what will not come */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	starpu_data_set_name(h, "awaited");
	if (rank == 1) {
		OK(starpu_mpi_irecv_detached(h, 0, 3, MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_task_insert(&increment_cl, STARPU_RW, h, 0));
		OK(starpu_mpi_isend_detached(h, 0, 4, MPI_COMM_WORLD, NULL, NULL));
	}
	return end();
}
