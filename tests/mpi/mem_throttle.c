/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_MPI_MEM_THROTTLE: a receive that main memory has no room for waits in its call, and a
 * message that no receive has asked for stays at its sender while there is no room for it. Without,
 * neither happens; with STARPU_MPI_EARLYDATA_ALLOCATE such a message comes at once.
 *
 * The start reads the variables, so that one run tries all of them.
 * orr-test: ranks 2
 * orr-test: sim-ranks 2 */
#include "mpi_test.h"

enum { MIB = 1 << 20, GO = 1, FIRST, SECOND, LARGE };

static int arrived;

static void on_arrival(void *arg)
{
	(void) arg;
	__atomic_store_n(&arrived, 1, __ATOMIC_SEQ_CST);
}

static starpu_data_handle_t bytes(size_t n)
{
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, -1, 0, (uint32_t) n, 1);
	return h;
}

static starpu_data_handle_t filled(size_t n, int value)
{
	starpu_data_handle_t h = bytes(n);

	OK(starpu_data_acquire(h, STARPU_W));
	memset(starpu_data_get_local_ptr(h), value, n);
	starpu_data_release(h);
	return h;
}

/* Two receives of 3 MiB where 4 MiB are allowed: the second one goes on when the first datum is
 * gone. Returns whether its call waited. */
static int second_receive_waited(void)
{
	starpu_data_handle_t a, b;

	if (rank == 0) {
		a = filled(3 * MIB, 1);
		starpu_sleep(0.05);
		OK(starpu_mpi_send(a, 1, FIRST, MPI_COMM_WORLD));
		OK(starpu_mpi_send(a, 1, SECOND, MPI_COMM_WORLD));
		starpu_data_unregister(a);
		return 0;
	}
	a = bytes(3 * MIB);
	b = bytes(3 * MIB);
	OK(starpu_mpi_irecv_detached(a, 0, FIRST, MPI_COMM_WORLD, on_arrival, NULL));
	starpu_data_unregister_submit(a);
	OK(starpu_mpi_irecv_detached(b, 0, SECOND, MPI_COMM_WORLD, NULL, NULL));
	int waited = __atomic_load_n(&arrived, __ATOMIC_SEQ_CST);
	OK(starpu_data_acquire(b, STARPU_R));
	CHECK(*(char *) starpu_data_get_local_ptr(b) == 1, "wrong value");
	starpu_data_release(b);
	starpu_data_unregister(b);
	return waited;
}

/* 2 MiB to a rank that has room for one and has not asked for them. Returns whether they left. */
static int send_early(void)
{
	starpu_data_handle_t h = filled(2 * MIB, 7);
	starpu_mpi_req req;
	int left = 0, go = 1;

	OK(starpu_mpi_isend(h, &req, 1, LARGE, MPI_COMM_WORLD));
	for (int i = 0; i < 40 && !left; i++) {
		starpu_sleep(0.005);
		OK(starpu_mpi_test(&req, &left, MPI_STATUS_IGNORE));
	}
	MPI_Send(&go, 1, MPI_INT, 1, GO, MPI_COMM_WORLD);
	if (!left)
		OK(starpu_mpi_wait(&req, MPI_STATUS_IGNORE));
	starpu_data_unregister(h);
	return left;
}

static void receive_late(void)
{
	starpu_data_handle_t full = filled(3 * MIB, 0), h = bytes(2 * MIB);
	int go;

	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	MPI_Recv(&go, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	starpu_data_unregister(full);
	OK(starpu_mpi_recv(h, 0, LARGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(starpu_data_acquire(h, STARPU_R));
	CHECK(((char *) starpu_data_get_local_ptr(h))[2 * MIB - 1] == 7, "wrong value");
	starpu_data_release(h);
	starpu_data_unregister(h);
}

/* waits, leaves: what must happen. */
static void round_of(int throttle, int at_once, int waits, int leaves)
{
	setenv("STARPU_LIMIT_CPU_MEM", rank == 1 ? "4" : "64", 1);
	setenv("STARPU_MPI_MEM_THROTTLE", throttle ? "1" : "0", 1);
	setenv("STARPU_MPI_EARLYDATA_ALLOCATE", at_once ? "1" : "0", 1);
	OK(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL));
	arrived = 0;
	int waited = second_receive_waited();
	CHECK(rank == 0 || waited == waits, "throttle %d: the call waited: %d", throttle, waited);
	if (rank == 1) {
		receive_late();
	} else {
		OK(starpu_mpi_barrier(MPI_COMM_WORLD));
		int left = send_early();
		CHECK(left == leaves, "throttle %d, at once %d: the message left: %d", throttle,
		      at_once, left);
	}
	OK(starpu_mpi_shutdown());
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	test_rank = rank;
	if (size == 2) {
		round_of(0, 0, 0, 1);
		round_of(1, 0, 1, 0);
		round_of(1, 1, 1, 1);
	}
	MPI_Finalize();
	return size == 2 ? 0 : 77;
}
