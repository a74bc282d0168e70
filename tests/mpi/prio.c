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
	starpu_data_handle_t out, in[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_vector_data_register(&out, -1, 0, NX, sizeof(int));
	for (int i = 0; i < N; i++)
		starpu_vector_data_register(&in[i], -1, 0, NX, sizeof(int));
	/* All sends read one datum that the program holds: its release makes them ready together.
	 */
	OK(starpu_data_acquire(out, STARPU_W));
	memset(starpu_data_get_local_ptr(out), 1, NX * sizeof(int));
	for (int i = 0; i < N; i++)
		if (rank == 1)
			OK(starpu_mpi_irecv_detached(in[i], 0, i, MPI_COMM_WORLD, arrived,
						     (void *) (intptr_t) i));
		else
			OK(starpu_mpi_isend_detached_prio(out, 1, i, i % 4, MPI_COMM_WORLD, NULL,
							  NULL));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	starpu_data_release(out);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	/* The first starts before the others are known; the rest is sorted, most urgent first. */
	for (int i = 1; rank == 1 && i + 1 < N; i++)
		CHECK(order[i] % 4 >= order[i + 1] % 4, "tag %d came before tag %d", order[i],
		      order[i + 1]);
	starpu_data_unregister(out);
	for (int i = 0; i < N; i++)
		starpu_data_unregister(in[i]);
	return end();
}
