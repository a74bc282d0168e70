/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees are chosen for the network that the user describes: if a message takes a second to arrive,
 * the owner sends a small value to all others itself, where it would use a tree otherwise
 * (broadcast.c).
 *
 * orr-test: env ORRERY_MPI_LATENCY=1000000000 ORRERY_MPI_OVERHEAD=1000
 * orr-test: ranks 4
 * orr-test: sim-ranks 33 */
#include "coop_test.h"

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_mpi_comm_stats_enable();
	CHECK_IS(starpu_mpi_coop_sends_get_use(), 1);
	CHECK_IS(receivers(0), rank == 0 ? size - 1 : 0);
	return end();
}
