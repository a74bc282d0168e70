/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A receive whose size does not match the message: names the data, its tag once, the peer and both
 * sizes, and ends the program.
 * orr-test: expect rank 1 receives data "wrong" \(tag 5\) from rank 0: the data here has 8 bytes, the message has 4 */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_variable_data_register(&h, -1, 0, rank ? 8 : 4);
	starpu_mpi_data_register(h, 5, 0);
	starpu_data_set_name(h, "wrong");
	if (rank == 0) {
		set_int(h, 1);
		OK(starpu_mpi_send(h, 1, 5, MPI_COMM_WORLD));
	} else
		OK(starpu_mpi_recv(h, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	return end();
}
