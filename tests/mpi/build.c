/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task build, submission by the program, post build; and the exchange functions for tasks made by
 * hand. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t a, b;
	struct starpu_data_descr descrs[2];
	struct starpu_mpi_task_exchange_params params;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&a);
	new_int(&b);
	starpu_mpi_data_register(a, 1, 0);
	starpu_mpi_data_register(b, 2, 1);
	if (rank == 0)
		set_int(a, 1);
	if (rank == 1)
		set_int(b, 2);
	struct starpu_task *task = starpu_mpi_task_build(MPI_COMM_WORLD, &append_cl, STARPU_RW, a,
							 STARPU_R, b, STARPU_EXECUTE_ON_NODE, 1, 0);
	CHECK(!!task == (rank == 1), "a task on the wrong rank");
	if (task)
		OK(starpu_task_submit(task));
	OK(starpu_mpi_task_post_build(MPI_COMM_WORLD, &append_cl, STARPU_RW, a, STARPU_R, b,
				      STARPU_EXECUTE_ON_NODE, 1, 0));

	task = starpu_task_create();
	task->cl = &append_cl;
	task->handles[0] = b;
	task->handles[1] = a;
	OK(starpu_mpi_task_exchange_data_before_execution(MPI_COMM_WORLD, task, descrs, &params));
	CHECK(params.do_execute == (rank == 1), "do_execute %d", params.do_execute);
	if (params.do_execute)
		OK(starpu_task_submit(task));
	else
		starpu_task_destroy(task);
	OK(starpu_mpi_task_exchange_data_after_execution(MPI_COMM_WORLD, descrs, 2, params));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 0)
		CHECK(int_of(a) == 12, "a is %d", int_of(a));
	if (rank == 1)
		CHECK(int_of(b) == 32, "b is %d", int_of(b));
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	return end();
}
