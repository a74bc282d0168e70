/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any communicator: a split with other rank numbers, the same tags on several communicators at
 * once, one that was freed. */
#include "mpi_test.h"

static void exchange(MPI_Comm comm, int value)
{
	starpu_data_handle_t out, in;
	int r, n;

	starpu_mpi_comm_rank(comm, &r);
	starpu_mpi_comm_size(comm, &n);
	new_int(&out);
	new_int(&in);
	set_int(out, value + r);
	OK(starpu_mpi_isend_detached(out, (r + 1) % n, 3, comm, NULL, NULL));
	OK(starpu_mpi_recv(in, (r + n - 1) % n, 3, comm, MPI_STATUS_IGNORE));
	CHECK(int_of(in) == value + (r + n - 1) % n, "got %d", int_of(in));
	OK(starpu_mpi_barrier(comm));
	starpu_data_unregister(out);
	starpu_data_unregister(in);
}

int main(int argc, char **argv)
{
	MPI_Comm half, reverse, same;

	if (!begin(&argc, &argv, 2))
		return 77;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reverse);
	MPI_Comm_dup(reverse, &same);
	OK(starpu_mpi_comm_register(reverse));
	OK(starpu_mpi_comm_register(same));
	exchange(MPI_COMM_WORLD, 10000);
	exchange(half, 20000 + 100 * (rank % 2));
	exchange(reverse, 30000);
	exchange(same, 40000);
	MPI_Comm_free(&half);
	for (int i = 0; i < 5; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, i % 2 ? rank : -rank, &half);
		exchange(half, 1000 * i);
		MPI_Comm_free(&half);
	}
	MPI_Comm_free(&same);
	MPI_Comm_free(&reverse);
	exchange(MPI_COMM_WORLD, 50000);
	return end();
}
