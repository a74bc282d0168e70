/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ring of a program that takes its user's locale, started by locale.sh with a decimal comma: what
 * it prints are whole numbers. */
#include "mpi_test.h"
#include <locale.h>
#include <orrery.h>

int main(int argc, char **argv)
{
	starpu_data_handle_t out, in;
	char path[32];
	double us;

	setlocale(LC_ALL, "");
	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_vector_data_register(&out, -1, 0, 3000, sizeof(int));
	starpu_vector_data_register(&in, -1, 0, 3000, sizeof(int));
	OK(starpu_data_acquire(out, STARPU_W));
	memset(starpu_data_get_local_ptr(out), 1, 12000);
	starpu_data_release(out);
	us = starpu_timing_now();
	for (int i = 0; i < 10; i++) {
		OK(starpu_mpi_isend_detached(out, (rank + 1) % size, i, MPI_COMM_WORLD, NULL,
					     NULL));
		OK(starpu_mpi_recv(in, (rank + size - 1) % size, i, MPI_COMM_WORLD,
				   MPI_STATUS_IGNORE));
	}
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	us = starpu_timing_now() - us;
	snprintf(path, sizeof(path), "own_%d.csv", rank);
	OK(orrery_stats_write(path));
	starpu_data_unregister(out);
	starpu_data_unregister(in);
	if (orrery_is_simulated())
		printf("rank %d: %ld ns\n", rank, (long) (us * 1e3));
	return end();
}
