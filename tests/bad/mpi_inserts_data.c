/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks insert the same codelet on data in another order: nobody waits for ever, the result is
 * wrong. Found by tags and owners.
 * orr-test: env ORRERY_CHECK_INSERTS=1
 * orr-test: ranks 2 3
 * orr-test: sim-ranks 2 5
 * orr-test: expect insertion 3 is task 'append' with 2 data: tag 0 of rank 0, tag 1 of rank 1 on rank 0
 * orr-test: expect insertion 3 is task 'append' with 2 data: tag 1 of rank 1, tag 0 of rank 0 on rank 1
 */
#include "mpi_inserts.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h[2];

	if (!begin(&argc, &argv, 2))
		return 77;
	register_two(h);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, h[0],
				  STARPU_EXECUTE_ON_NODE, 0, 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, h[0], STARPU_R, h[1], 0));
	int first = rank == 1;
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, h[first], STARPU_R,
				  h[!first], 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, h[!first], STARPU_R,
				  h[first], 0));
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	return 0;
}
