/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No rank calls starpu_mpi_shutdown(): nothing would be counted, so the run fails and says why, in
 * a simulation as well.
 * orr-test: ranks 1 2
 * orr-test: sim-ranks 1 2
 * orr-test: expect rank [01] exits without starpu_mpi_shutdown */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 1))
		return 77;
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	return argc > 1 ? atoi(argv[1]) : 0;
}
