/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inter-node reductions: every rank contributes, the owner gets the sum with its own value; again
 * after a read. */
#include "mpi_test.h"

static void cpu_zero(void *buffers[], void *arg)
{
	(void) arg;
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static void cpu_add(void *buffers[], void *arg)
{
	(void) arg;
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) += *(int *) STARPU_VARIABLE_GET_PTR(
		buffers[1]);
}

static struct starpu_codelet zero_cl = {
	.cpu_funcs = { cpu_zero }, .nbuffers = 1, .modes = { STARPU_W }, .name = "zero"
};
static struct starpu_codelet add_cl = { .cpu_funcs = { cpu_add },
					.nbuffers = 2,
					.modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
					.name = "add" };
static struct starpu_codelet contribute_cl = { .cpu_funcs = { cpu_increment },
					       .nbuffers = 1,
					       .modes = { STARPU_RW | STARPU_COMMUTE },
					       .name = "contribute" };

int main(int argc, char **argv)
{
	starpu_data_handle_t h, copy;
	int hundred = 100;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	new_int(&copy);
	starpu_data_set_reduction_methods(h, &add_cl, &zero_cl);
	starpu_mpi_data_register(h, 1, 0);
	starpu_mpi_data_register(copy, 2, 1);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, h, STARPU_VALUE, &hundred,
				  sizeof(hundred), 0));
	for (int i = 0; i < 3 * size; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute_cl, STARPU_MPI_REDUX, h,
					  STARPU_EXECUTE_ON_NODE, i % size, 0));
	OK(starpu_mpi_data_cpy(copy, h, MPI_COMM_WORLD, 1, NULL, NULL));
	for (int i = 0; i < size; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute_cl, STARPU_MPI_REDUX, h,
					  STARPU_EXECUTE_ON_NODE, i, 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 0)
		CHECK(int_of(h) == 100 + 4 * size, "sum is %d", int_of(h));
	if (rank == 1)
		CHECK(int_of(copy) == 100 + 3 * size, "the copy is %d", int_of(copy));
	starpu_data_unregister(h);
	starpu_data_unregister(copy);
	return end();
}
