/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One rank leaves out the first of several tasks of one codelet: that one is named, not the place
 * where the codelets begin to differ.
 * orr-test: env ORRERY_CHECK_INSERTS=1
 * orr-test: ranks 2 3
 * orr-test: sim-ranks 2 5
 * orr-test: expect insertion 1 is task 'increment' with 1 data: tag 1 of rank 1 on rank 0
 * orr-test: expect insertion 1 is task 'increment' with 1 data: tag 0 of rank 0 on rank 1
 */
#include "mpi_inserts.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h[2];

	if (!begin(&argc, &argv, 2))
		return 77;
	register_two(h);
	for (int i = rank ? 0 : 1; i < 6; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, h[i % 2], 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, h[0], STARPU_R, h[1], 0));
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	return 0;
}
