/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages sent long before they are received: small, around the eager limit, large; several of one
 * tag keep their order. */
#include "mpi_test.h"

static const unsigned sizes[] = { 1, 1000, 4095, 4096, 4097, 65536, 3000000 };
enum { N = sizeof(sizes) / sizeof(*sizes), SAME = 10 };

int main(int argc, char **argv)
{
	starpu_data_handle_t out[N], in[N], h;

	if (!begin(&argc, &argv, 2))
		return 77;
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	for (int i = 0; i < N; i++) {
		starpu_vector_data_register(&out[i], -1, 0, sizes[i], 1);
		starpu_vector_data_register(&in[i], -1, 0, sizes[i], 1);
		OK(starpu_data_acquire(out[i], STARPU_W));
		memset(starpu_data_get_local_ptr(out[i]), 10 * rank + i, sizes[i]);
		starpu_data_release(out[i]);
		OK(starpu_mpi_isend_detached(out[i], to, i, MPI_COMM_WORLD, NULL, NULL));
	}
	new_int(&h);
	for (int i = 0; i < SAME; i++) {
		set_int(h, i);
		OK(starpu_mpi_send(h, to, 77, MPI_COMM_WORLD));
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	starpu_sleep(0.05);
	for (int i = N - 1; i >= 0; i--)
		OK(starpu_mpi_irecv_detached(in[i], from, i, MPI_COMM_WORLD, NULL, NULL));
	for (int i = 0; i < SAME; i++) {
		OK(starpu_mpi_recv(h, from, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(int_of(h) == i, "message %d carried %d", i, int_of(h));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int i = 0; i < N; i++) {
		OK(starpu_data_acquire(in[i], STARPU_R));
		unsigned char *v = starpu_data_get_local_ptr(in[i]);
		for (unsigned j = 0; j < sizes[i]; j += 999)
			CHECK(v[j] == (unsigned char) (10 * from + i), "size %u, byte %u is %d",
			      sizes[i], j, v[j]);
		CHECK(v[sizes[i] - 1] == (unsigned char) (10 * from + i), "size %u, last byte",
		      sizes[i]);
		starpu_data_release(in[i]);
		starpu_data_unregister(in[i]);
		starpu_data_unregister(out[i]);
	}
	starpu_data_unregister(h);
	return end();
}
