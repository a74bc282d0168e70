/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cache: one message per value and rank, until it is written or flushed; counted by the
 * statistics. */
#include "mpi_test.h"

static size_t sent_to_1(void)
{
	size_t amounts[64] = { 0 };

	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	starpu_mpi_comm_stats_retrieve(amounts);
	return amounts[1] / sizeof(int);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t mine, other;

	if (!begin(&argc, &argv, 2) || size > 64)
		return 77;
	starpu_mpi_comm_stats_enable();
	CHECK(starpu_mpi_cache_is_enabled(), "the cache is off by default");
	new_int(&mine);
	new_int(&other);
	starpu_mpi_data_register(mine, 1, 0);
	starpu_mpi_data_register(other, 2, 1);
	if (rank == 0)
		set_int(mine, 0);
	if (rank == 1)
		set_int(other, 0);
#define READ() \
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, other, STARPU_R, mine, 0))
	READ();
	READ();
	if (rank == 0)
		CHECK(sent_to_1() == 1 && starpu_mpi_cached_send(mine, 1), "%zu messages",
		      sent_to_1());
	if (rank == 1)
		CHECK(starpu_mpi_cached_receive(mine), "not in the cache");
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, mine, 0));
	CHECK(!starpu_mpi_cached_receive(mine) && !starpu_mpi_cached_send(mine, 1),
	      "a write must empty the cache");
	READ();
	if (rank == 0)
		CHECK(sent_to_1() == 2, "%zu messages", sent_to_1());
	starpu_mpi_cache_flush(MPI_COMM_WORLD, mine);
	READ();
	starpu_mpi_cache_flush_all_data(MPI_COMM_WORLD);
	CHECK(!starpu_mpi_cached_receive(mine), "flushed");
	READ();
	READ();
	if (rank == 0)
		CHECK(sent_to_1() == 4, "%zu messages", sent_to_1());
	starpu_mpi_cache_set(0);
	READ();
	READ();
	if (rank == 0)
		CHECK(sent_to_1() == 6, "%zu messages without cache", sent_to_1());
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 1)
		CHECK(int_of(other) == 111111, "result %d", int_of(other));
	starpu_data_unregister(mine);
	starpu_data_unregister(other);
	return end();
}
