/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program of edition 1.0: its start in each of the old ways, its types and names, its environment
 * variable.
 *
 * orr-test: env STARPU_COMM_STATS=1
 * orr-test: expect starpu_comm_stats.*TOTAL */
#define STARPU_USE_DEPRECATED_API 1
#include "mpi_test.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static starpu_codelet old_increment_cl = {
	.cpu_funcs = { cpu_increment }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "old"
};

/* Ways to start the layer. */
enum { INITIALIZE, INIT, COMM, NWAYS };

static void start(int way, int *argc, char ***argv)
{
	OK(starpu_init(NULL));
	if (way == INITIALIZE)
		OK(starpu_mpi_initialize());
	else if (way == INIT)
		OK(starpu_mpi_init(argc, argv, 0));
	else
		OK(starpu_mpi_init_comm(argc, argv, 0, MPI_COMM_WORLD));
	int world_rank, world_size;
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world_size);
	OK(starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank));
	OK(starpu_mpi_comm_size(MPI_COMM_WORLD, &size));
	CHECK_IS(rank, world_rank);
	CHECK_IS(size, world_size);
}

/* Every rank increments a datum of the last rank; what travelled is counted. */
static void work(void)
{
	starpu_data_handle h;
	size_t *sent = calloc((size_t) size, sizeof(*sent));

	new_int(&h);
	starpu_data_set_rank(h, size - 1);
	starpu_data_set_tag(h, 12);
	CHECK_IS(starpu_data_get_rank(h), size - 1);
	CHECK_IS(starpu_data_get_tag(h), 12);
	if (rank == size - 1)
		set_int(h, 0);
	for (int i = 0; i < size; i++)
		OK(starpu_mpi_insert_task(MPI_COMM_WORLD, &old_increment_cl, STARPU_RW, h,
					  STARPU_EXECUTE_ON_NODE, i, 0));
	starpu_mpi_get_data_on_node(MPI_COMM_WORLD, h, 0);
	CHECK(rank || int_of(h) == size, "the sum is %d", int_of(h));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	starpu_mpi_comm_amounts_retrieve(sent);
	CHECK_IS(sent[size - 1], rank < size - 1 ? (int) sizeof(int) : 0);
	free(sent);
	starpu_data_unregister(h);
}

int main(int argc, char **argv)
{
	int provided, initialized = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	for (int way = 0; way < NWAYS; way++) {
		start(way, &argc, &argv);
		work();
		OK(starpu_mpi_shutdown());
		starpu_shutdown();
	}
	MPI_Initialized(&initialized);
	CHECK(initialized, "the layer has ended an MPI that is not its own");
	MPI_Finalize();
	return 0;
}
