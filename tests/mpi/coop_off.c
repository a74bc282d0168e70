/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_MPI_COOP_SENDS=0: the owner sends to all others itself, until the program wants trees.
 *
 * orr-test: env STARPU_MPI_COOP_SENDS=0
 * orr-test: ranks 4
 * orr-test: sim-ranks 33 */
#include "coop_test.h"

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_mpi_comm_stats_enable();
	CHECK_IS(starpu_mpi_coop_sends_get_use(), 0);
	CHECK_IS(receivers(0), rank == 0 ? size - 1 : 0);
	starpu_mpi_coop_sends_set_use(1);
	int n = receivers(0);
	if (size >= 32 && rank == 0)
		CHECK(n > 1 && n < size / 2, "with trees rank 0 sends to %d ranks of %d", n, size);
	return end();
}
