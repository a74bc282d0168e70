/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rank 0 leaves out three tasks whose data rank 1 waits for, and waits itself for a message that
 * nobody sends. The diagnosis says which rank waits for which, when it sent its last message, and
 * how many tasks it inserted fewer.
 * orr-test: env STARPU_WATCHDOG_TIMEOUT=300000 STARPU_WATCHDOG_CRASH=1
 * orr-test: expect rank 1 waits for tag 1 \(and 2 more receives\) of rank 0, which sent its last message to it [0-9.]+ s ago \(1 in all\); rank 0 inserted 3 tasks fewer \(1, here 4\), .*; ORRERY_CHECK_INSERTS=1 names the first that differs */
#include "../mpi/mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t from[4], to, never;

	if (!begin(&argc, &argv, 2))
		return 77;
	for (int i = 0; i < 4; i++) {
		new_int(&from[i]);
		starpu_mpi_data_register(from[i], i, 0);
	}
	new_int(&to);
	starpu_mpi_data_register(to, 5, 1);
	new_int(&never);
	if (rank == 0)
		for (int i = 0; i < 4; i++)
			set_int(from[i], i);
	if (rank == 1)
		set_int(to, 0);
	for (int i = 0; i < (rank ? 4 : 1); i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, to, STARPU_R,
					  from[i], 0));
	if (rank)
		OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	else {
		/* In a real run, rank 1 asks while this rank sleeps outside of the runtime. */
		starpu_sleep(1.5f);
		OK(starpu_mpi_recv(never, 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	return end();
}
