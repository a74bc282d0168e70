/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ORRERY_MPI_RESERVE_CORE: one core less has a worker, unless the number of workers is given.
 *
 * orr-test: ranks 2
 * orr-test: sim-ranks 2
 * orr-test: env STARPU_WORKERS_GETBIND=0 */
#include "mpi_test.h"

/* How many workers there are with these variables. */
static unsigned workers(const char *reserve, const char *ncpu)
{
	setenv("ORRERY_MPI_RESERVE_CORE", reserve, 1);
	if (ncpu)
		setenv("STARPU_NCPU", ncpu, 1);
	else
		unsetenv("STARPU_NCPU");
	OK(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL));
	unsigned n = starpu_cpu_worker_get_count();
	OK(starpu_mpi_shutdown());
	return n;
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	test_rank = rank;
	unsigned all = workers("0", NULL);
	CHECK_IS(workers("1", NULL), all > 1 ? all - 1 : 1);
	CHECK_IS(workers("1", "1"), 1);
	MPI_Finalize();
	return all > 1 ? 0 : 77;
}
