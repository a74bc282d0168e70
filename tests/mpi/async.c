/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Non-blocking requests: started together, waited for or tested in another order. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	enum { N = 20 };
	starpu_data_handle_t out[N], in[N];
	starpu_mpi_req sreq[N], rreq[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	for (int i = 0; i < N; i++) {
		new_int(&out[i]);
		new_int(&in[i]);
		set_int(out[i], 1000 * rank + i);
		OK(starpu_mpi_irecv(in[i], &rreq[i], from, i, MPI_COMM_WORLD));
	}
	for (int i = N - 1; i >= 0; i--)
		OK(starpu_mpi_isend(out[i], &sreq[i], to, i, MPI_COMM_WORLD));
	for (int i = 0; i < N; i++) {
		if (i % 2) {
			OK(starpu_mpi_wait(&rreq[i], MPI_STATUS_IGNORE));
		} else
			for (int flag = 0; !flag;)
				OK(starpu_mpi_test(&rreq[i], &flag, MPI_STATUS_IGNORE));
		CHECK(!rreq[i], "the request was not reset");
		CHECK(int_of(in[i]) == 1000 * from + i, "got %d", int_of(in[i]));
	}
	for (int i = 0; i < N; i++)
		OK(starpu_mpi_wait(&sreq[i], MPI_STATUS_IGNORE));
	for (int i = 0; i < N; i++) {
		starpu_data_unregister(out[i]);
		starpu_data_unregister(in[i]);
	}
	return end();
}
