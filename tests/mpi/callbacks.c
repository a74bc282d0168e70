/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Callbacks of detached messages may submit tasks and messages; waiting for all covers what they
 * started. */
#include "mpi_test.h"

static starpu_data_handle_t h, back;
static int done;

static void finished(void *arg)
{
	(void) arg;
	done = 1;
}

static void answer(void *arg)
{
	(void) arg;
	OK(starpu_task_insert(&increment_cl, STARPU_RW, h, 0));
	OK(starpu_mpi_isend_detached(h, (rank + size - 1) % size, 2, MPI_COMM_WORLD, NULL, NULL));
}

int main(int argc, char **argv)
{
	starpu_data_handle_t out;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	new_int(&back);
	new_int(&out);
	set_int(out, 10 * rank);
	OK(starpu_mpi_irecv_detached(h, (rank + size - 1) % size, 1, MPI_COMM_WORLD, answer, NULL));
	OK(starpu_mpi_irecv_detached(back, (rank + 1) % size, 2, MPI_COMM_WORLD, finished, NULL));
	OK(starpu_mpi_isend_detached(out, (rank + 1) % size, 1, MPI_COMM_WORLD, NULL, NULL));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK(done && int_of(back) == 10 * rank + 1, "got %d", int_of(back));
	starpu_data_unregister(h);
	starpu_data_unregister(back);
	starpu_data_unregister(out);
	return end();
}
