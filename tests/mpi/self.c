/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of a rank to itself: before and after the receive, synchronous, small and large.
 * orr-test: ranks 1 2
 * orr-test: sim-ranks 1 2 */
#include "mpi_test.h"

static void round_trip(unsigned n, int sync, int receive_first)
{
	starpu_data_handle_t out, in;
	starpu_mpi_req sreq, rreq;

	starpu_vector_data_register(&out, -1, 0, n, 1);
	starpu_vector_data_register(&in, -1, 0, n, 1);
	OK(starpu_data_acquire(out, STARPU_W));
	memset(starpu_data_get_local_ptr(out), 7, n);
	starpu_data_release(out);
	if (receive_first)
		OK(starpu_mpi_irecv(in, &rreq, rank, 9, MPI_COMM_WORLD));
	OK(sync ? starpu_mpi_issend(out, &sreq, rank, 9, MPI_COMM_WORLD)
		: starpu_mpi_isend(out, &sreq, rank, 9, MPI_COMM_WORLD));
	if (!receive_first)
		OK(starpu_mpi_irecv(in, &rreq, rank, 9, MPI_COMM_WORLD));
	OK(starpu_mpi_wait(&sreq, MPI_STATUS_IGNORE));
	OK(starpu_mpi_wait(&rreq, MPI_STATUS_IGNORE));
	OK(starpu_data_acquire(in, STARPU_R));
	char *v = starpu_data_get_local_ptr(in);
	CHECK(v[0] == 7 && v[n - 1] == 7, "wrong value");
	starpu_data_release(in);
	starpu_data_unregister(out);
	starpu_data_unregister(in);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 1))
		return 77;
	for (int i = 0; i < 4; i++) {
		round_trip(16, i & 1, i & 2);
		round_trip(1000000, i & 1, i & 2);
	}
	return end();
}
