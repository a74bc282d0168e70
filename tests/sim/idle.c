/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rank that has the runtime with its MPI layer, or not even that ("without runtime"), and nothing
 * to do (idle.sh, tests/bench/sim_memory.sh). */
#include <starpu_mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "without runtime"))
		return 0;
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_mpi_shutdown();
	return 0;
}
