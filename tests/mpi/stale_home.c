/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A datum that is unregistered while another rank owns it and wrote it last: its home keeps an old
 * value, and the program is told (handbook 14.15). A value that was brought home, or a datum that
 * nobody wrote, is in order.
 * orr-test: expect rank 1 owns it and has written it since it left
 * orr-test: expect stale only */
#include "mpi_test.h"

static starpu_data_handle_t moved(int *value, int tag, const char *name)
{
	starpu_data_handle_t h;

	starpu_variable_data_register(&h, rank == 0 ? STARPU_MAIN_RAM : -1,
				      rank == 0 ? (uintptr_t) value : 0, sizeof(int));
	starpu_data_set_name(h, name);
	starpu_mpi_data_register(h, tag, 0);
	starpu_mpi_data_migrate(MPI_COMM_WORLD, h, 1);
	return h;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t stale, brought, unwritten, back;
	int v[4] = { 7, 7, 7, 7 };

	if (!begin(&argc, &argv, 2))
		return 77;
	stale = moved(&v[0], 1, "stale only");
	brought = moved(&v[1], 2, "brought home");
	unwritten = moved(&v[2], 3, "unwritten");
	back = moved(&v[3], 4, "migrated back");
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, stale, 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, brought, 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, back, 0));
	OK(starpu_mpi_get_data_on_node(MPI_COMM_WORLD, brought, 0));
	starpu_mpi_data_migrate(MPI_COMM_WORLD, back, 0);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	starpu_data_unregister(stale);
	starpu_data_unregister(brought);
	starpu_data_unregister(unwritten);
	starpu_data_unregister(back);
	if (rank == 0)
		CHECK(v[1] == 8 && v[2] == 7 && v[3] == 8, "values at home: %d %d %d", v[1], v[2],
		      v[3]);
	return end();
}
