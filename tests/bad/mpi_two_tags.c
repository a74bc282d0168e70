/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two data with one tag: names both, at their first communication.
 * orr-test: expect two data have one tag: "a".* and "b".* are both registered with tag 3 */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t a, b, c;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&a);
	new_int(&b);
	new_int(&c);
	starpu_data_set_name(a, "a");
	starpu_data_set_name(b, "b");
	starpu_mpi_data_register(a, 3, 0);
	starpu_mpi_data_register(b, 3, 0);
	starpu_mpi_data_register(c, 4, 1);
	int one = 1;
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, a, STARPU_VALUE, &one,
				  sizeof(one), 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, b, STARPU_VALUE, &one,
				  sizeof(one), 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, c, STARPU_VALUE, &one,
				  sizeof(one), 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, c, STARPU_R, a, 0));
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, c, STARPU_R, b, 0));
	return end();
}
