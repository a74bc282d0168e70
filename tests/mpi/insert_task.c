/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Insertion: owners execute, what is read travels, chains of tasks over all ranks give the
 * sequential result. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	enum { N = 8, LOOPS = 3 };
	starpu_data_handle_t h[N];
	int expect[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	for (int i = 0; i < N; i++) {
		new_int(&h[i]);
		starpu_mpi_data_register(h[i], i, i % size);
		expect[i] = i % 10;
		int value = i % 10;
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, h[i], STARPU_VALUE,
					  &value, sizeof(value), 0));
	}
	CHECK(starpu_mpi_data_get_rank(h[1]) == 1 && starpu_mpi_data_get_tag(h[1]) == 1,
	      "registered as %d", starpu_mpi_data_get_rank(h[1]));
	for (int loop = 0; loop < LOOPS; loop++)
		for (int i = 0; i < N; i++) {
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, h[i],
						  STARPU_R, h[(i + 1 + loop) % N], STARPU_PRIORITY,
						  i % 2, 0));
			expect[i] = 10 * expect[i] + expect[(i + 1 + loop) % N];
			if (expect[i] > 1000000) {
				expect[i] = 1;
				int one = 1;
				OK(starpu_mpi_insert_task(MPI_COMM_WORLD, &set_cl, STARPU_VALUE,
							  &one, sizeof(one), STARPU_W, h[i], 0));
			}
		}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int i = 0; i < N; i++) {
		if (i % size == rank)
			CHECK(int_of(h[i]) == expect[i], "data %d is %d, expected %d", i,
			      int_of(h[i]), expect[i]);
		starpu_data_unregister(h[i]);
	}
	return end();
}
