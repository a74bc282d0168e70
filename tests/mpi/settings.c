/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs give the same results without cache and priorities, with one request for each turn of
 * the engine, one send at a time, an engine that is bound nowhere, and a communication tag of their
 * own; and without the cache, each task that reads a datum has it sent anew.
 * orr-test: env STARPU_MPI_CACHE=0 STARPU_MPI_PRIORITIES=0 STARPU_MPI_NREADY_PROCESS=1 STARPU_MPI_NDETACHED_SEND=1 STARPU_MPI_NOBIND=1 STARPU_MPI_THREAD_CPUID=0 STARPU_MPI_STATS=1 */
#include "mpi_test.h"

enum { N = 12, TIMES = 3, TAG = 1234 };

int main(int argc, char **argv)
{
	starpu_data_handle_t from[N], to[N];

	int tag = starpu_mpi_get_communication_tag();

	/* In a simulated run, another rank may have set it for all. */
	CHECK(tag == 42 || tag == TAG, "%d", tag);
	starpu_mpi_set_communication_tag(TAG);
	if (!begin(&argc, &argv, 2))
		return 77;
	CHECK_IS(starpu_mpi_get_communication_tag(), TAG);
	CHECK_IS(starpu_mpi_cache_is_enabled(), 0);
	CHECK_IS(starpu_mpi_get_thread_cpuid(), -1);
	for (int i = 0; i < N; i++) {
		new_int(&from[i]);
		starpu_mpi_data_register(from[i], i, 0);
		new_int(&to[i]);
		starpu_mpi_data_register(to[i], N + i, 1);
		if (rank == 0)
			set_int(from[i], i);
		if (rank == 1)
			set_int(to[i], 0);
	}
	for (int t = 0; t < TIMES; t++)
		for (int i = 0; i < N; i++) {
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, to[i],
						  STARPU_R, from[i], STARPU_PRIORITY, i, 0));
			CHECK_IS(starpu_mpi_cached_receive(from[i]), 0);
			CHECK_IS(starpu_mpi_cached_send(from[i], 1), 0);
		}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	size_t *sent = calloc((size_t) size, sizeof(*sent));
	starpu_mpi_comm_stats_retrieve(sent);
	CHECK_IS(sent[1], rank == 0 ? TIMES * N * (int) sizeof(int) : 0);
	free(sent);
	for (int i = 0; i < N; i++) {
		if (rank == 1)
			CHECK_IS(int_of(to[i]), 111 * i);
		starpu_data_unregister(from[i]);
		starpu_data_unregister(to[i]);
	}
	return end();
}
