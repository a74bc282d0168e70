/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages that unlock tags: alone, as arrays, and an empty array. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	enum { N = 5 };
	starpu_data_handle_t h[N];
	starpu_mpi_tag_t tags[N];
	MPI_Comm comms[N];
	int peers[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	for (int i = 0; i < N; i++) {
		new_int(&h[i]);
		set_int(h[i], 100 * rank + i);
		tags[i] = 10 + i;
		comms[i] = MPI_COMM_WORLD;
		peers[i] = to;
	}
	OK(starpu_mpi_isend_array_detached_unlock_tag(N, h, peers, tags, comms, 1));
	for (int i = 0; i < N; i++)
		peers[i] = from;
	OK(starpu_mpi_irecv_array_detached_unlock_tag(N, h, peers, tags, comms, 2));
	OK(starpu_tag_wait(1));
	OK(starpu_tag_wait(2));
	for (int i = 0; i < N; i++)
		CHECK(int_of(h[i]) == 100 * from + i, "got %d", int_of(h[i]));
	OK(starpu_mpi_isend_detached_unlock_tag(h[0], to, 99, MPI_COMM_WORLD, 3));
	OK(starpu_mpi_irecv_detached_unlock_tag(h[1], from, 99, MPI_COMM_WORLD, 4));
	OK(starpu_mpi_isend_array_detached_unlock_tag(0, NULL, NULL, NULL, NULL, 5));
	for (starpu_tag_t tag = 3; tag <= 5; tag++)
		OK(starpu_tag_wait(tag));
	for (int i = 0; i < N; i++)
		starpu_data_unregister(h[i]);
	return end();
}
