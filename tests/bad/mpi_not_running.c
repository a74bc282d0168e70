/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls before the layer runs: an error that says what to call.
 * orr-test: ranks 1
 * orr-test: sim-ranks 1
 * orr-test: expect starpu_mpi_wait_for_all: the MPI layer is not running; call starpu_mpi_init_conf */
#include "../mpi/mpi_test.h"

int main(void)
{
	return starpu_mpi_wait_for_all(MPI_COMM_WORLD) == -ENODEV ? 1 : 0;
}
