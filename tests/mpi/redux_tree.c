/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions along trees: arities that the program asks for, large data without, one right after
 * the other, with tasks of the next round before the last one is combined; ranks that contributed
 * insert nothing of each other. The owner receives from as many ranks as the arity says.
 *
 * orr-test: ranks 2 4
 * orr-test: expect a tree cannot have arity 1
 * orr-test: sim-ranks 3 9 20 */
#include "redux_test.h"

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_mpi_comm_stats_enable();
	for (int arity = 0; arity < 5; arity++)
		if (arity != 1)
			for (int n = 1; n <= size; n += 1 + size / 3) {
				reduce(1, 0, n, arity);
				reduce(NX, size - 1, n, arity);
			}
	if (size > 5) {
		CHECK_IS(senders(1, 2), 2);
		CHECK_IS(senders(1, 3), 3);
		CHECK_IS(senders(NX, 0), 2);
		CHECK_IS(senders(1, 0), size - 1);
	}
	for (int arity = -1; arity < 2; arity += 2) {
		CHECK_IS(starpu_mpi_redux_data_tree(MPI_COMM_WORLD, NULL, arity), -EINVAL);
		CHECK_IS(starpu_mpi_redux_data_prio_tree(MPI_COMM_WORLD, NULL, 1, arity), -EINVAL);
	}
	return end();
}
