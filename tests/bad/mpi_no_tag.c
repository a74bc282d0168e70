/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data that has to travel but has no tag: -EINVAL where it would be sent or received.
 * orr-test: expect data "untagged" has to travel between ranks but has no tag */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h, other;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	new_int(&other);
	starpu_data_set_name(h, "untagged");
	starpu_mpi_data_register(h, -1, 0);
	starpu_mpi_data_register(other, 1, 1);
	int ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, other, STARPU_R, h,
					 0);
	starpu_data_unregister(h);
	starpu_data_unregister(other);
	end();
	return ret == -EINVAL ? 1 : 0;
}
