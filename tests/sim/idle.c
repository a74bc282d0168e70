/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rank that has the runtime with its MPI layer, and nothing to do (idle.sh). */
#include <starpu_mpi.h>

int main(int argc, char **argv)
{
	int ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret)
		return 77;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_mpi_shutdown();
	return 0;
}
