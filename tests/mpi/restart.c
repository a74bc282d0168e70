/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI layer is started and stopped again and again in one program, each time on another
 * communicator: all ranks, all in reverse order, a duplicate, halves, halves in reverse order, one
 * rank alone. Ranks are those of that communicator, tags are the same everywhere, and no message
 * of one round is seen in another.
 *
 * orr-test: timeout 60 */
#include <unistd.h>
#include "mpi_test.h"

static MPI_Comm world;
static int world_rank, world_size;

static void start(MPI_Comm comm)
{
	int r, n;

	OK(starpu_mpi_init_conf(NULL, NULL, 0, comm, NULL));
	OK(starpu_mpi_comm_rank(comm, &rank));
	OK(starpu_mpi_comm_size(comm, &size));
	MPI_Comm_rank(comm, &r);
	MPI_Comm_size(comm, &n);
	CHECK_IS(rank, r);
	CHECK_IS(size, n);
	CHECK_IS(starpu_mpi_world_rank(), r);
	CHECK_IS(starpu_mpi_world_size(), n);
	/* A communicator with other members can be asked about. */
	OK(starpu_mpi_comm_rank(world, &r));
	OK(starpu_mpi_comm_size(world, &n));
	CHECK_IS(r, world_rank);
	CHECK_IS(n, world_size);
}

/* A ring over comm: `bytes` from each rank to the next, and who sent it. */
static void exchange(MPI_Comm comm, int value, size_t bytes)
{
	starpu_data_handle_t out, in;
	int r, n;

	MPI_Comm_rank(comm, &r);
	MPI_Comm_size(comm, &n);
	starpu_variable_data_register(&out, -1, 0, bytes);
	starpu_variable_data_register(&in, -1, 0, bytes);
	set_int(out, value + r);
	OK(starpu_mpi_isend_detached(out, (r + 1) % n, 3, comm, NULL, NULL));
	OK(starpu_mpi_recv(in, (r + n - 1) % n, 3, comm, MPI_STATUS_IGNORE));
	CHECK_IS(int_of(in), value + (r + n - 1) % n);
	starpu_data_unregister(out);
	starpu_data_unregister(in);
}

/* A datum of the last rank that every rank increments in turn. */
static void insert(MPI_Comm comm, int value)
{
	starpu_data_handle_t h;
	int v = value, last = size - 1;

	starpu_variable_data_register(&h, rank == last ? STARPU_MAIN_RAM : -1,
				      rank == last ? (uintptr_t) &v : 0, sizeof(v));
	starpu_mpi_data_register(h, 5, last);
	for (int i = 0; i < size; i++)
		OK(starpu_mpi_task_insert(comm, &increment_cl, STARPU_RW, h, STARPU_EXECUTE_ON_NODE,
					  i, 0));
	starpu_data_unregister(h);
	if (rank == last)
		CHECK_IS(v, value + size);
}

static void round_on(MPI_Comm comm, int value)
{
	start(comm);
	exchange(comm, 1000 * value, sizeof(int));
	exchange(comm, 1000 * value + 500, 300000);
	insert(comm, value);
	OK(starpu_mpi_shutdown_comm(comm));
}

/* Rounds that some ranks end long before others, so that their next round meets the last one. */
static void hurry(void)
{
	for (int i = 0; i < 8; i++) {
		starpu_data_handle_t h;
		int v = 0;

		start(world);
		starpu_variable_data_register(&h, rank == 0 ? STARPU_MAIN_RAM : -1,
					      rank == 0 ? (uintptr_t) &v : 0, sizeof(v));
		starpu_mpi_data_register(h, i, 0);
		OK(starpu_mpi_task_insert(world, &increment_cl, STARPU_RW, h,
					  STARPU_EXECUTE_ON_NODE, i % size, 0));
		starpu_data_unregister(h);
		CHECK_IS(v, rank == 0);
		MPI_Barrier(world);
		if (rank == i % size)
			usleep(2000);
		OK(starpu_mpi_shutdown());
	}
}

/* Communicators with the same ranks in another order, a part of them, and the same tag, all at once
 * within a part of the world. */
static void within(MPI_Comm comm)
{
	MPI_Comm reverse, self = MPI_COMM_SELF;

	MPI_Comm_split(comm, 0, -world_rank, &reverse);
	start(comm);
	OK(starpu_mpi_comm_register(reverse));
	exchange(reverse, 100, sizeof(int));
	exchange(comm, 200, 100000);
	exchange(self, 300, sizeof(int));
	exchange(reverse, 400, 100000);
	OK(starpu_mpi_shutdown());
	MPI_Comm_free(&reverse);
}

int main(int argc, char **argv)
{
	MPI_Comm reverse, same, half, back;
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		return 77;
	world = MPI_COMM_WORLD;
	MPI_Comm_rank(world, &world_rank);
	MPI_Comm_size(world, &world_size);
	test_rank = world_rank;
	MPI_Comm_split(world, 0, -world_rank, &reverse);
	MPI_Comm_dup(world, &same);
	MPI_Comm_split(world, world_rank % 2, world_rank, &half);
	MPI_Comm_split(world, world_rank % 2, -world_rank, &back);
	MPI_Comm rounds[] = { world, half,  reverse, same,          back,
			      half,  world, reverse, MPI_COMM_SELF, world };
	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++)
		round_on(rounds[i], (int) i);
	hurry();
	within(world);
	within(back);
	within(half);
	MPI_Finalize();
	return 0;
}
