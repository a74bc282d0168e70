/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The marks of the cache, set and cleared by the program: what counts as sent is not sent again,
 * and what was cleared is; what counts as received is not waited for. STARPU_MPI_CACHE_STATS says
 * what comes and goes.
 * orr-test: env STARPU_MPI_STATS=1 STARPU_MPI_CACHE_STATS=1
 * orr-test: expect starpu_mpi_cache_stats\]\[1\] added received data
 * orr-test: expect starpu_mpi_cache_stats\]\[1\] removed received data */
#include "mpi_test.h"

static starpu_data_handle_t from, to;

/* A task of rank 1 reads what rank 0 owns; the bytes that rank 0 has sent since the start. */
static size_t read_it(void)
{
	size_t *sent = calloc((size_t) size, sizeof(*sent)), bytes;

	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, to, STARPU_R, from,
				  STARPU_EXECUTE_ON_NODE, 1, 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	starpu_mpi_comm_stats_retrieve(sent);
	bytes = sent[1];
	free(sent);
	return rank == 0 ? bytes / sizeof(int) : 0;
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&from);
	starpu_mpi_data_register(from, 1, 0);
	new_int(&to);
	starpu_mpi_data_register(to, 2, 1);
	if (rank == 0)
		set_int(from, 7);
	if (rank == 1)
		set_int(to, 0);
	CHECK_IS(read_it(), rank == 0);
	CHECK_IS(read_it(), rank == 0);
	/* Cleared on both sides, it travels again; once, because the task sets the marks. */
	if (rank == 0)
		starpu_mpi_cached_send_clear(from);
	if (rank == 1)
		starpu_mpi_cached_receive_clear(from);
	CHECK_IS(starpu_mpi_cached_send(from, 1) || starpu_mpi_cached_receive(from), 0);
	CHECK_IS(read_it(), rank == 0 ? 2 : 0);
	CHECK_IS(read_it(), rank == 0 ? 2 : 0);
	if (rank == 0) {
		CHECK_IS(starpu_mpi_cached_send(from, 1), 1);
		CHECK_IS(starpu_mpi_cached_send_set(from, 1), 1);
		starpu_mpi_cached_send_clear(from);
		CHECK_IS(starpu_mpi_cached_send_set(from, 1), 0);
		CHECK_IS(starpu_mpi_cached_send(from, 1), 1);
	}
	if (rank == 1) {
		CHECK_IS(starpu_mpi_cached_receive(from), 1);
		CHECK_IS(starpu_mpi_cached_receive_set(from), 1);
		CHECK_IS(int_of(to), 7777);
	}
	/* Set by the program, it counts as sent: rank 1 computes with its old value. */
	CHECK_IS(read_it(), rank == 0 ? 2 : 0);
	if (rank == 1)
		CHECK_IS(int_of(to), 77777);
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	return end();
}
