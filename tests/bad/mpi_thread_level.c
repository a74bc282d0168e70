/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An MPI that the program initialised for one thread only: refused, with the level to ask for.
 * orr-test: world real
 * orr-test: expect MPI was initialised with thread level MPI_THREAD_SINGLE.*MPI_THREAD_MULTIPLE */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int ret = starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, NULL);
	MPI_Finalize();
	return ret == -EINVAL ? 1 : 0;
}
