/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last thing that happens is that ranks pass a value on to others, while they shut down
 * themselves: each gets it, and all end.
 * orr-test: ranks 6
 * orr-test: sim-ranks 10 33 */
#include "mpi_test.h"

static void cpu_seventeen(void *buffers[], void *arg)
{
	(void) arg;
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) = 17;
}

static struct starpu_codelet seventeen_cl = {
	.cpu_funcs = { cpu_seventeen }, .nbuffers = 1, .modes = { STARPU_W }, .name = "set"
};

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_variable_data_register(&h, -1, 0, sizeof(int));
	starpu_mpi_data_register(h, 1, 0);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &seventeen_cl, STARPU_W, h, 0));
	starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, h);
	OK(starpu_data_acquire(h, STARPU_R));
	CHECK_IS(*(int *) starpu_data_get_local_ptr(h), 17);
	starpu_data_release(h);
	starpu_data_unregister(h);
	OK(starpu_mpi_shutdown());
	return 0;
}
