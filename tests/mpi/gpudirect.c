/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages from and into the memory of devices: what a device wrote is sent without coming to main
 * memory, and received into the device that used the datum before; all else goes through main
 * memory, and arrives as well. The argument says what to expect: direct, or main (all of it goes
 * through main memory). gpudirect.sh runs it on fake devices, on the stub of the CUDA runtime,
 * whose memory this MPI can reach, and in the simulated world.
 *
 * Invariant: each value says which round and rank it is of. */
#include <starpu_mpi.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"

#define N (64 << 10) /* ints of a large datum */
#define ROUNDS 4

/* The library asks this function in place of MPI's. */
int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
	const char *aware = getenv("ORR_TEST_CUDA_AWARE");

	return aware && atoi(aware);
}

static int rank, size, direct, device;

static void add(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i]++;
}

static void set(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	int value;

	starpu_codelet_unpack_args(arg, &value);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] = value + (int) i;
}

static void use(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet
	add_cl = { .cuda_funcs = { add }, .nbuffers = 1, .modes = { STARPU_RW } },
	use_cl = { .cuda_funcs = { use }, .nbuffers = 1, .modes = { STARPU_R } },
	set_cl = { .cpu_funcs = { set }, .nbuffers = 1, .modes = { STARPU_W } };

static starpu_data_handle_t new_datum(unsigned n)
{
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, -1, 0, n, sizeof(int));
	return h;
}

static void set_to(starpu_data_handle_t h, int value)
{
	OK(starpu_task_insert(&set_cl, STARPU_W, h, STARPU_VALUE, &value, sizeof(value), 0));
}

static void on_device(struct starpu_codelet *cl, starpu_data_handle_t h)
{
	OK(starpu_task_insert(cl, cl->modes[0], h, 0));
	starpu_task_wait_for_all();
}

static void check_and_end(starpu_data_handle_t h, int value)
{
	OK(starpu_data_acquire(h, STARPU_R));
	const int *v = starpu_data_get_local_ptr(h);

	for (unsigned i = 0; i < starpu_vector_get_nx(h); i++)
		CHECK(v[i] == value + (int) i, "element %u is %d, not %d", i, v[i],
		      value + (int) i);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

static int is_in_main(starpu_data_handle_t h)
{
	return starpu_data_is_on_node(h, STARPU_MAIN_RAM);
}

/* The sender begins after the receive was posted, so that the message does not come early. */
static void pass(starpu_data_handle_t h, int from, int to)
{
	static int word;
	starpu_data_handle_t go;
	starpu_mpi_req req;

	starpu_variable_data_register(&go, STARPU_MAIN_RAM, (uintptr_t) &word, sizeof(word));
	if (rank == from) {
		OK(starpu_mpi_recv(go, to, 1, MPI_COMM_WORLD, NULL));
		OK(starpu_mpi_send(h, to, 2, MPI_COMM_WORLD));
	} else {
		OK(starpu_mpi_irecv(h, &req, from, 2, MPI_COMM_WORLD));
		OK(starpu_mpi_send(go, from, 1, MPI_COMM_WORLD));
		OK(starpu_mpi_wait(&req, MPI_STATUS_IGNORE));
	}
	starpu_data_unregister(go);
}

/* A datum goes to and fro between the devices of two ranks. */
static void to_and_fro(void)
{
	starpu_data_handle_t h = new_datum(N);

	if (rank == 0)
		set_to(h, 100);
	for (int r = 0; r < ROUNDS; r++) {
		if (rank == 0)
			on_device(&add_cl, h);
		pass(h, 0, 1);
		/* The first time, no device of the receiver had used it. */
		CHECK_IS(is_in_main(h), !direct || (rank == 1 && r == 0));
		if (rank == 1)
			on_device(&add_cl, h);
		pass(h, 1, 0);
		CHECK_IS(is_in_main(h), !direct);
		CHECK_IS(starpu_data_is_on_node(h, device), !!(direct || rank == 1));
	}
	check_and_end(h, 100 + 2 * ROUNDS);
}

/* A value that is in main memory comes into the device that used the old one. (On one host it is
 * copied between the memories of the processes, which no device takes part in.) */
static void from_main(void)
{
	starpu_data_handle_t h = new_datum(N);

	set_to(h, 7);
	if (rank == 1)
		on_device(&use_cl, h);
	if (rank == 0)
		set_to(h, 300);
	starpu_task_wait_for_all();
	pass(h, 0, 1);
	CHECK_IS(is_in_main(h), !direct || rank == 0);
	check_and_end(h, 300);
}

/* Small ones take the way of small ones. */
static void small(void)
{
	starpu_data_handle_t h = new_datum(4);

	set_to(h, rank ? 0 : 20);
	on_device(&add_cl, h);
	pass(h, 0, 1);
	CHECK_IS(is_in_main(h), 1);
	check_and_end(h, 21);
}

/* Rank 0 sends before the others post: what came is in main memory. Several receivers may get it
 * along a tree. */
static void early_and_all(void)
{
	starpu_data_handle_t h = new_datum(N);

	set_to(h, 40);
	on_device(&add_cl, h);
	if (rank == 0) {
		for (int i = 1; i < size; i++)
			OK(starpu_mpi_isend_detached(h, i, 3, MPI_COMM_WORLD, NULL, NULL));
		on_device(&add_cl, h);
	}
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	if (rank) {
		OK(starpu_mpi_recv(h, 0, 3, MPI_COMM_WORLD, NULL));
		on_device(&add_cl, h);
	}
	check_and_end(h, 42);
}

/* A block with gaps has none in the memory of a device, but in main memory. */
static void gaps(void)
{
	static int v[300 * 260];
	starpu_data_handle_t h;

	for (int i = 0; i < 300 * 260; i++)
		v[i] = rank ? -1 : i;
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 300, 256, 260, sizeof(int));
	on_device(&use_cl, h);
	pass(h, 0, 1);
	starpu_data_unregister(h);
	for (int i = 0; i < 300 * 260; i++)
		CHECK_IS(v[i], !rank || i % 300 < 256 ? i : -1);
}

int main(int argc, char **argv)
{
	direct = argc > 1 && !strcmp(argv[1], "direct");
	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	int worker = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);

	CHECK(worker >= 0 && size >= 2, "it takes a device and two ranks");
	device = (int) starpu_worker_get_memory_node((unsigned) worker);
	if (rank < 2) {
		to_and_fro();
		from_main();
		small();
		gaps();
	}
	early_and_all();
	starpu_mpi_shutdown();
	return 0;
}
