/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages that no receive asks for and receives that no message comes for are reported at the end,
 * and the program ends all the same. Their data can be unregistered then, and nothing is left.
 * orr-test: expect rank 1: 2 messages came that no receive asked for: from rank 0, tag 5; from rank 0, tag 6
 * orr-test: expect rank 0: no message came for 2 receives:.* from rank 1, tag 7.* from any rank, tag 8
 * orr-test: expect callback did not run */
#include "mpi_test.h"

static int called;

static void callback(void *arg)
{
	(void) arg;
	called = 1;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t small, large, first, second;

	OK(starpu_init(NULL));
	OK(starpu_mpi_init(&argc, &argv, 1));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	test_rank = rank;
	new_int(&small);
	new_int(&first);
	new_int(&second);
	starpu_vector_data_register(&large, -1, 0, 1 << 20, 1);
	if (rank == 0) {
		set_int(small, 1);
		OK(starpu_data_acquire(large, STARPU_W));
		memset((void *) starpu_data_get_local_ptr(large), 1, 1 << 20);
		starpu_data_release(large);
		OK(starpu_mpi_isend_detached(small, 1, 5, MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_mpi_isend_detached(large, 1, 6, MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_mpi_irecv_detached(first, 1, 7, MPI_COMM_WORLD, callback, NULL));
		OK(starpu_mpi_irecv_detached(second, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, callback,
					     NULL));
	}
	OK(starpu_mpi_shutdown());
	CHECK(!called, "a callback ran for a message that never came");
	starpu_data_unregister(small);
	starpu_data_unregister(large);
	starpu_data_unregister(first);
	starpu_data_unregister(second);
	starpu_shutdown();
	if (rank == 0)
		printf("callback did not run\n");
	return 0;
}
