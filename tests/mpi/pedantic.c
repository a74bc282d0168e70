/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ORRERY_MPI_PEDANTIC_ISEND (--enable-mpi-pedantic-isend): no task reads a datum while it is being
 * sent, and no second message of it leaves. Without, both happen at the same time.
 *
 * orr-test: ranks 2
 * orr-test: sim-ranks 2 */
#include "mpi_test.h"

enum { GO = 1, HELD, OTHER };

static int nread;

static void cpu_read(void *buffers[], void *arg)
{
	(void) arg;
	CHECK(*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) == 42, "wrong value");
	__atomic_add_fetch(&nread, 1, __ATOMIC_SEQ_CST);
}

static struct starpu_codelet read_cl = { .cpu_funcs = { cpu_read },
					 .nbuffers = 1,
					 .modes = { STARPU_R },
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					 .name = "read" };

/* The first message is synchronous and has no receive yet. */
static void send_while_read(starpu_data_handle_t h, int pedantic)
{
	starpu_mpi_req held, other;
	int go = 1, left = 0;

	nread = 0;
	set_int(h, 42);
	OK(starpu_mpi_issend(h, &held, 1, HELD, MPI_COMM_WORLD));
	OK(starpu_mpi_isend(h, &other, 1, OTHER, MPI_COMM_WORLD));
	OK(starpu_task_insert(&read_cl, STARPU_R, h, 0));
	/* What must not happen gets 40 ms to do so; what must happen, 10 s. */
	for (int i = 0; i < (pedantic ? 20 : 5000); i++) {
		if (left && __atomic_load_n(&nread, __ATOMIC_SEQ_CST))
			break;
		starpu_sleep(0.002);
		if (!left)
			OK(starpu_mpi_test(&other, &left, MPI_STATUS_IGNORE));
	}
	CHECK(left == !pedantic, "pedantic %d: the second message left: %d", pedantic, left);
	int n = __atomic_load_n(&nread, __ATOMIC_SEQ_CST);
	CHECK(n == !pedantic, "pedantic %d: %d tasks read", pedantic, n);
	MPI_Send(&go, 1, MPI_INT, 1, GO, MPI_COMM_WORLD);
	OK(starpu_mpi_wait(&held, MPI_STATUS_IGNORE));
	if (!left)
		OK(starpu_mpi_wait(&other, MPI_STATUS_IGNORE));
	OK(starpu_task_wait_for_all());
	CHECK_IS(nread, 1);
}

static void receive(starpu_data_handle_t h)
{
	int go;

	MPI_Recv(&go, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	OK(starpu_mpi_recv(h, 0, HELD, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK_IS(int_of(h), 42);
	OK(starpu_mpi_recv(h, 0, OTHER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK_IS(int_of(h), 42);
}

static void round_of(int pedantic)
{
	starpu_data_handle_t h;

	setenv("ORRERY_MPI_PEDANTIC_ISEND", pedantic ? "1" : "0", 1);
	OK(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL));
	new_int(&h);
	if (rank == 0)
		send_while_read(h, pedantic);
	else
		receive(h);
	starpu_data_unregister(h);
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
		round_of(0);
		round_of(1);
	}
	MPI_Finalize();
	return size == 2 ? 0 : 77;
}
