/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_MPI_REDUX_ARITY_THRESHOLD: data of as many bytes are combined along a tree.
 *
 * orr-test: env STARPU_MPI_REDUX_ARITY_THRESHOLD=4
 * orr-test: ranks 8
 * orr-test: sim-ranks 9 */
#include "redux_test.h"

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 4))
		return 77;
	starpu_mpi_comm_stats_enable();
	CHECK_IS(senders(1, 0), 2);
	CHECK_IS(senders(NX, 0), 2);
	return end();
}
