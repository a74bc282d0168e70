/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The master-slave mode in a program that distributes its tasks itself.
 * orr-test: env STARPU_NMPI_MS=1
 * orr-test: expect the master-slave mode .* and starpu_mpi exclude each other */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	return starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) ? 1 : 0;
}
