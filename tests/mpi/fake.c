/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A fake rank: any program runs in one process, nothing is sent, foreign data counts as received;
 * at the end it says what it would have done. Of the 352 tasks those that write data of rank 2 are
 * its own: 2 sets and 20 appends. It needs h[3] and h[19] of rank 3, which change each time, and so
 * gets each 10 times; it sends h[2] and h[18] to rank 1 as often; and there are two receives and a
 * send by hand. Of h[3] and h[19] it keeps one at a time, because each is written before the other
 * one is needed.
 * orr-test: ranks 0 1
 * orr-test: sim-ranks 1
 * orr-test: expect rank 2 of 16, alone: inserted 352 tasks, 22 of them its own, in [0-9.]+ s
 * orr-test: expect alone: would send 21 messages, 84 bytes, to 2 ranks, and receive 22 messages, 88 bytes, from 3 ranks; holds at most [1-9][0-9]* bytes
 * orr-test: expect alone: owns at most 8 bytes of data, and keeps at most 4 bytes of others' values
 * orr-test: expect ^ +3 +0 +0 +20 +80$
 * orr-test: expect ^ +total +21 +84 +22 +88$
 * orr-test: env STARPU_MPI_FAKE_RANK=2 STARPU_MPI_FAKE_SIZE=16 STARPU_DISABLE_KERNELS=1 */
#include "mpi_test.h"

static int calls;

static void called(void *arg)
{
	(void) arg;
	calls++;
}

int main(int argc, char **argv)
{
	enum { N = 32 };
	starpu_data_handle_t h[N];

	if (!begin(&argc, &argv, 1))
		return 77;
	CHECK(rank == 2 && size == 16 && starpu_mpi_world_rank() == 2 &&
		      starpu_mpi_world_size() == 16,
	      "rank %d of %d", rank, size);
	for (int i = 0; i < N; i++) {
		new_int(&h[i]);
		starpu_mpi_data_register(h[i], i, i % size);
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, h[i], STARPU_VALUE, &i,
					  sizeof(i), 0));
	}
	for (int loop = 0; loop < 10; loop++)
		for (int i = 0; i < N; i++)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, h[i],
						  STARPU_R, h[(i + 1) % N], 0));
	OK(starpu_mpi_recv(h[0], 0, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(starpu_mpi_send(h[2], 0, 100, MPI_COMM_WORLD));
	OK(starpu_mpi_irecv_detached(h[1], 5, 100, MPI_COMM_WORLD, called, NULL));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK(calls == 1, "%d callbacks", calls);
	for (int i = 0; i < N; i++)
		starpu_data_unregister(h[i]);
	return end();
}
