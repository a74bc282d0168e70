/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rank that exits without starpu_mpi_shutdown while another waits for it: ends everything, naming
 * the rank.
 * orr-test: expect rank 1 */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	if (rank == 1)
		exit(3);
	OK(starpu_mpi_recv(h, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	return end();
}
