/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many messages between all pairs, tags far beyond 32 bits, received in another order than sent. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	enum { N = 200 };
	static starpu_data_handle_t out[N], in[N];
	int64_t *ub = NULL;
	int flag = 0;

	if (!begin(&argc, &argv, 2))
		return 77;
	OK(starpu_mpi_comm_get_attr(MPI_COMM_WORLD, STARPU_MPI_TAG_UB, &ub, &flag));
	CHECK(flag && *ub >= ((int64_t) 1 << 62), "tags are bounded");
	for (int i = 0; i < N; i++) {
		new_int(&out[i]);
		new_int(&in[i]);
		set_int(out[i], 1000 * rank + i);
	}
	for (int i = 0; i < N; i++)
		OK(starpu_mpi_isend_detached(out[i], (rank + 1 + i) % size, ((int64_t) i << 40) + i,
					     MPI_COMM_WORLD, NULL, NULL));
	for (int k = 0; k < N; k++) {
		int i = (k * 37 + 11) % N;
		OK(starpu_mpi_irecv_detached(in[i], (rank + N * size - 1 - i) % size,
					     ((int64_t) i << 40) + i, MPI_COMM_WORLD, NULL, NULL));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int i = 0; i < N; i++) {
		int from = (rank + N * size - 1 - i) % size;
		CHECK(int_of(in[i]) == 1000 * from + i, "tag %d: got %d from %d", i, int_of(in[i]),
		      from);
		starpu_data_unregister(in[i]);
		starpu_data_unregister(out[i]);
	}
	return end();
}
