/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A callback of 3 ms in the progression thread of rank 1, which gets two messages: what
 * tests/tools/trace_turns.sh records.
 *
 * Invariant: the second message is there before the callback of the first is over, so the thread is
 * late for it. */
#include <starpu_mpi.h>
#include "lib/test.h"

static int ncalled;

static void called(void *arg)
{
	(void) arg;
	if (!ncalled++)
		starpu_sleep(0.003);
}

int main(int argc, char **argv)
{
	int value[2] = { 0, 0 }, rank;
	starpu_data_handle_t h[2];

	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++) {
		value[i] = rank ? 0 : i + 1;
		starpu_variable_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) &value[i],
					      sizeof(value[i]));
		if (rank == 1)
			OK(starpu_mpi_irecv_detached(h[i], 0, i, MPI_COMM_WORLD, called, NULL));
	}
	if (rank == 0)
		for (int i = 0; i < 2; i++) {
			starpu_sleep(0.001);
			OK(starpu_mpi_isend_detached(h[i], 1, i, MPI_COMM_WORLD, NULL, NULL));
		}
	for (int i = 0; i < 2; i++) {
		starpu_data_unregister(h[i]);
		CHECK_IS(value[i], rank < 2 ? i + 1 : 0);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	CHECK_IS(ncalled, rank == 1 ? 2 : 0);
	starpu_mpi_shutdown();
	return 0;
}
