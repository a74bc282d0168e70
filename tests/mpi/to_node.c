/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A value goes to one rank, which is told so; owners and tags are set one by one, also among the
 * ranks of another communicator. */
#include "mpi_test.h"

static int ncalled;

static void called(void *arg)
{
	ncalled += *(int *) arg;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;
	MPI_Comm reverse;
	int five = 5;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	starpu_mpi_data_set_rank_comm(h, 0, MPI_COMM_WORLD);
	starpu_mpi_data_set_tag(h, 11);
	CHECK_IS(starpu_mpi_data_get_rank(h), 0);
	CHECK_IS(starpu_mpi_data_get_tag(h), 11);
	if (rank == 0)
		set_int(h, 7);
	OK(starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, h, 1, called, &five));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 1) {
		CHECK_IS(int_of(h), 7);
		CHECK_IS(ncalled, 5);
	}
	CHECK_IS(starpu_mpi_data_get_rank(h), 0);

	/* Rank 0 of the reversed world is the last one of the world. */
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
	OK(starpu_mpi_comm_register(reverse));
	starpu_data_unregister(h);
	new_int(&h);
	starpu_mpi_data_register_comm(h, 12, 0, reverse);
	CHECK_IS(starpu_mpi_data_get_rank(h), 0);
	if (rank == size - 1)
		set_int(h, 9);
	OK(starpu_mpi_task_insert(reverse, &increment_cl, STARPU_RW, h, STARPU_EXECUTE_ON_NODE,
				  size - 1, 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == size - 1)
		CHECK_IS(int_of(h), 10);
	starpu_data_unregister(h);
	MPI_Comm_free(&reverse);
	return end();
}
