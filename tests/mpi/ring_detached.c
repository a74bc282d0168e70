/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A token goes around by detached messages only; tasks increment it; nobody waits in between. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	enum { LOOPS = 50 };
	starpu_data_handle_t h;
	int token = 0;

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &token, sizeof(token));
	for (int loop = 0; loop < LOOPS; loop++) {
		int tag = loop * size + rank;
		if (loop || rank)
			OK(starpu_mpi_irecv_detached(h, (rank + size - 1) % size, tag,
						     MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_task_insert(&increment_cl, STARPU_RW, h, 0));
		if (loop < LOOPS - 1 || rank < size - 1)
			OK(starpu_mpi_isend_detached(h, (rank + 1) % size, tag + 1, MPI_COMM_WORLD,
						     NULL, NULL));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	starpu_data_unregister(h);
	if (rank == size - 1)
		CHECK(token == LOOPS * size, "token is %d", token);
	return end();
}
