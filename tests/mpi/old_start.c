/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_mpi_initialize_extended() starts MPI, tells rank and size, and leaves starpu_shutdown() to
 * the program. The end of the layer ends MPI. */
#include "mpi_test.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

int main(void)
{
	starpu_data_handle_t h;
	int ended = 0;

	OK(starpu_init(NULL));
	OK(starpu_mpi_initialize_extended(&rank, &size));
	CHECK_IS(rank, starpu_mpi_world_rank());
	CHECK_IS(size, starpu_mpi_world_size());
	new_int(&h);
	starpu_mpi_data_register(h, 1, size - 1);
	if (rank == size - 1)
		set_int(h, 4);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, h,
				  STARPU_EXECUTE_ON_NODE, 0, 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == size - 1)
		CHECK_IS(int_of(h), 5);
	starpu_data_unregister(h);
	OK(starpu_mpi_shutdown());
	MPI_Finalized(&ended);
	CHECK(ended, "MPI goes on");
	starpu_shutdown();
	return 0;
}
