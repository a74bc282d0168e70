/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Four sends of 1 MiB that are ready at the same time. send_mib.sh counts those under way. */
#include "mpi_test.h"

enum { N = 4, MIB = 1 << 20 };

int main(int argc, char **argv)
{
	starpu_data_handle_t h[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	for (int i = 0; i < N; i++) {
		starpu_vector_data_register(&h[i], -1, 0, MIB, 1);
		if (rank == 0) {
			OK(starpu_data_acquire(h[i], STARPU_W));
			memset(starpu_data_get_local_ptr(h[i]), i, MIB);
			starpu_data_release(h[i]);
		}
	}
	for (int i = 0; i < N && rank == 1; i++)
		OK(starpu_mpi_irecv_detached(h[i], 0, i, MPI_COMM_WORLD, NULL, NULL));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 0; i < N && rank == 0; i++)
		OK(starpu_mpi_isend_detached(h[i], 1, i, MPI_COMM_WORLD, NULL, NULL));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int i = 0; i < N; i++)
		starpu_data_unregister(h[i]);
	return end();
}
