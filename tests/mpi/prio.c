/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends that become ready together start in the order of their priorities (one at a time here).
 * orr-test: ranks 2
 * orr-test: sim-ranks 2
 * orr-test: env STARPU_MPI_NDETACHED_SEND=1 STARPU_MPI_EAGER_LIMIT=0 */
#include "mpi_test.h"

enum { N = 16, NX = 1 << 18 };
static int order[N], narrived;

static void arrived(void *arg)
{
	order[narrived++] = (int) (intptr_t) arg;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	for (int i = 0; i < N; i++) {
		starpu_vector_data_register(&h[i], -1, 0, NX, sizeof(int));
		OK(starpu_data_acquire(h[i], STARPU_W));
		memset(starpu_data_get_local_ptr(h[i]), i, NX * sizeof(int));
		if (rank == 1)
			starpu_data_release(h[i]);
	}
	for (int i = 0; i < N; i++)
		if (rank == 1)
			OK(starpu_mpi_irecv_detached(h[i], 0, i, MPI_COMM_WORLD, arrived, (void *) (intptr_t) i));
		else
			OK(starpu_mpi_isend_detached_prio(h[i], 1, i, i % 4, MPI_COMM_WORLD, NULL, NULL));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0)
		for (int i = 0; i < N; i++)
			starpu_data_release(h[i]);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	/* The first may start while the others are still being released; the rest is sorted, most urgent first. */
	if (rank == 1)
		for (int i = 0, inversions = 0; i + 1 < N; i++) {
			inversions += order[i] % 4 < order[i + 1] % 4;
			CHECK(inversions <= 4, "%d after %d", order[i + 1], order[i]);
		}
	for (int i = 0; i < N; i++)
		starpu_data_unregister(h[i]);
	return end();
}
