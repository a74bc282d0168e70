/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data without bytes travels too: it orders tasks. */
#include "mpi_test.h"

static int calls;

static void called(void *arg)
{
	(void) arg;
	__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_void_data_register(&h);
	for (int i = 0; i < 5; i++) {
		OK(starpu_mpi_isend_detached(h, (rank + 1) % size, i, MPI_COMM_WORLD, called,
					     NULL));
		OK(starpu_mpi_irecv_detached(h, (rank + size - 1) % size, i, MPI_COMM_WORLD, called,
					     NULL));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK(calls == 10, "%d callbacks", calls);
	starpu_data_unregister(h);
	return end();
}
