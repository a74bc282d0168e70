/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Per-node data: every rank computes its own; a normal datum becomes per-node after it was sent to
 * all. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t pernode, mine[64], shared;
	int five = 5, nine = 9;

	if (!begin(&argc, &argv, 2) || size > 64)
		return 77;
	new_int(&pernode);
	starpu_mpi_data_register(pernode, -1, STARPU_MPI_PER_NODE);
	new_int(&shared);
	starpu_mpi_data_register(shared, 1000, 0);
	for (int i = 0; i < size; i++) {
		new_int(&mine[i]);
		starpu_mpi_data_register(mine[i], i, i);
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, mine[i], STARPU_VALUE,
					  &i, sizeof(i), 0));
	}
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, pernode, STARPU_VALUE, &five,
				  sizeof(five), 0));
	for (int i = 0; i < size; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, mine[i], STARPU_R,
					  pernode, 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, shared, STARPU_VALUE, &nine,
				  sizeof(nine), 0));
	starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, shared);
	starpu_mpi_data_set_rank(shared, STARPU_MPI_PER_NODE);
	for (int i = 0; i < size; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, mine[i], STARPU_R,
					  shared, 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK(int_of(pernode) == 5, "per-node value %d", int_of(pernode));
	CHECK(int_of(shared) == 9, "shared value %d", int_of(shared));
	CHECK(int_of(mine[rank]) == 100 * rank + 59, "result %d", int_of(mine[rank]));
	for (int i = 0; i < size; i++)
		starpu_data_unregister(mine[i]);
	starpu_data_unregister(pernode);
	starpu_data_unregister(shared);
	return end();
}
