/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One rank inserts a task that the others leave out: found before anybody waits for ever, with the
 * first difference by name.
 * orr-test: env ORRERY_CHECK_INSERTS=1
 * orr-test: ranks 2 3
 * orr-test: sim-ranks 2 5
 * orr-test: expect insertion 12 is task 'append' with 2 data: .* on rank 0
 * orr-test: expect insertion 12 is task 'increment' with 1 data: .* on rank 1
 */
#include "mpi_inserts.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h[2];

	if (!begin(&argc, &argv, 2))
		return 77;
	register_two(h);
	for (int i = 0; i < 3; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, h[i % 2], 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD)); /* no difference so far */
	for (int i = 0; i < 20; i++) {
		if (i != 4 || rank != 1)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, h[0],
						  STARPU_R, h[1], 0));
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, h[1], 0));
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	return 0;
}
