/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that writes data of two owners, without choice of node: -EINVAL on every rank, and nothing
 * hangs.
 * orr-test: expect writes data "a".*, owned by rank 0, and "b".*, owned by rank 1.*no choice of node */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	static struct starpu_codelet both_cl = { .cpu_funcs = { cpu_append },
						 .nbuffers = 2,
						 .modes = { STARPU_RW, STARPU_RW },
						 .name = "both" };
	starpu_data_handle_t a, b;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&a);
	new_int(&b);
	starpu_data_set_name(a, "a");
	starpu_data_set_name(b, "b");
	starpu_mpi_data_register(a, 1, 0);
	starpu_mpi_data_register(b, 2, 1);
	int ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &both_cl, STARPU_RW, a, STARPU_RW, b, 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	end();
	return ret == -EINVAL ? 1 : 0;
}
