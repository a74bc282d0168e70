/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A destination that is not in the communicator: -EINVAL naming data and rank.
 * orr-test: expect cannot send data "stray": rank 99 is not in the communicator, which has [0-9]+ ranks */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 1))
		return 77;
	new_int(&h);
	starpu_data_set_name(h, "stray");
	set_int(h, 1);
	int ret = starpu_mpi_send(h, 99, 1, MPI_COMM_WORLD);
	starpu_data_unregister(h);
	end();
	return ret == -EINVAL ? 1 : 0;
}
