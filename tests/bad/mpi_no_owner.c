/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task on data that was not registered with starpu_mpi_data_register: -EINVAL, and nothing hangs.
 * orr-test: expect task 'increment': data "orphan" has no owner; call starpu_mpi_data_register */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 1))
		return 77;
	new_int(&h);
	starpu_data_set_name(h, "orphan");
	int ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, h, 0);
	starpu_data_unregister(h);
	end();
	return ret == -EINVAL ? 1 : 0;
}
