/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Insertion in steps by functions of the program that pass their arguments on, and a hook that sees
 * each task that insertion submits on this rank, with its priority. */
#include "mpi_test.h"

static int nseen, prio_seen;

static void see(struct starpu_task *task)
{
	nseen++;
	prio_seen = task->priority;
}

static struct starpu_task *build(struct starpu_codelet *cl, ...)
{
	va_list args;

	va_start(args, cl);
	struct starpu_task *task = starpu_mpi_task_build_v(MPI_COMM_WORLD, cl, args);
	va_end(args);
	return task;
}

static int post_build(struct starpu_codelet *cl, ...)
{
	va_list args;

	va_start(args, cl);
	int ret = starpu_mpi_task_post_build_v(MPI_COMM_WORLD, cl, args);
	va_end(args);
	return ret;
}

int main(int argc, char **argv)
{
	starpu_data_handle_t a, b;

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
	struct starpu_task *task = build(&append_cl, STARPU_RW, a, STARPU_R, b,
					 STARPU_EXECUTE_ON_NODE, 1, 0);
	CHECK_IS(task != NULL, rank == 1);
	if (task)
		OK(starpu_task_submit(task));
	OK(post_build(&append_cl, STARPU_RW, a, STARPU_R, b, STARPU_EXECUTE_ON_NODE, 1, 0));

	OK(starpu_mpi_pre_submit_hook_register(see));
	CHECK(starpu_mpi_pre_submit_hook_register(see) < 0, "a second hook");
	for (int i = 0; i < 4; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, a,
					  STARPU_PRIORITY, 1, 0));
	CHECK_IS(nseen, rank == 0 ? 4 : 0);
	CHECK_IS(prio_seen, rank == 0);
	OK(starpu_mpi_pre_submit_hook_unregister());
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, a, 0));
	CHECK_IS(nseen, rank == 0 ? 4 : 0);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 0)
		CHECK_IS(int_of(a), 17);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	return end();
}
