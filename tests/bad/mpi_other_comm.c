/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layer runs on a part of MPI_COMM_WORLD: a message to a rank of all is refused, not sent to
 * the rank of the part that has the same number.
 * orr-test: expect a communicator holds a process that is not in the one given to starpu_mpi_init_conf */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	MPI_Comm mine;
	int provided, ret;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size < 2 || provided < MPI_THREAD_MULTIPLE)
		return 77;
	MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &mine);
	OK(starpu_mpi_init_conf(NULL, NULL, 0, mine, NULL));
	starpu_data_handle_t h;
	new_int(&h);
	set_int(h, 1);
	ret = starpu_mpi_isend_detached(h, 0, 1, MPI_COMM_WORLD, NULL, NULL);
	starpu_data_unregister(h);
	OK(starpu_mpi_shutdown());
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return ret == -EINVAL ? 1 : 0;
}
