/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rank inserts a task that the other one leaves out although it owns what the task writes.
 * orr-test: env ORRERY_MPI_UNMATCHED_ERROR=1
 * orr-test: expect rank 1: 1 message came that no receive asked for: from rank 0, tag 10
 * orr-test: expect ends the program because of 1 unmatched */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t a, b;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&a);
	new_int(&b);
	starpu_mpi_data_register(a, 10, 0);
	starpu_mpi_data_register(b, 11, 1);
	if (rank == 0) {
		set_int(a, 1);
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, b, STARPU_R, a,
					  0));
	}
	return end();
}
