/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A synchronous send completes only once the receiver has taken it; also without any bytes. */
#include "mpi_test.h"

static int sent, received;

static void count(void *arg)
{
	__atomic_add_fetch((int *) arg, 1, __ATOMIC_SEQ_CST);
}

static void one_pair(starpu_data_handle_t h)
{
	starpu_mpi_req req;
	int flag = 1, token = 0;

	if (rank == 0) {
		OK(starpu_mpi_issend(h, &req, 1, 7, MPI_COMM_WORLD));
		OK(starpu_mpi_test(&req, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag, "complete although nobody receives");
		MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		OK(starpu_mpi_wait(&req, MPI_STATUS_IGNORE));
		OK(starpu_mpi_issend_detached(h, 1, 8, MPI_COMM_WORLD, count, &sent));
	} else if (rank == 1) {
		MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		OK(starpu_mpi_recv(h, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		OK(starpu_mpi_irecv_detached(h, 0, 8, MPI_COMM_WORLD, count, &received));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h, nothing;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	starpu_void_data_register(&nothing);
	if (rank == 0)
		set_int(h, 42);
	one_pair(h);
	one_pair(nothing);
	if (rank == 0)
		CHECK(sent == 2, "%d callbacks of senders", sent);
	if (rank == 1)
		CHECK(received == 2 && int_of(h) == 42, "%d callbacks of receivers", received);
	starpu_data_unregister(h);
	starpu_data_unregister(nothing);
	return end();
}
