/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One value for many ranks goes along a tree: sizes from nothing to several megabytes, contiguous
 * and strided, receives that are posted late, values that follow each other while others are under
 * way, and each rank sends to few others. Without cooperative sends the owner sends to everybody.
 *
 * orr-test: ranks 4
 * orr-test: sim-ranks 3 9 40 */
#include "coop_test.h"

enum { ROUNDS = 6 };

static void cpu_fill(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_MATRIX_GET_PTR(buffers[0]), seed;
	uint32_t nx = STARPU_MATRIX_GET_NX(buffers[0]), ny = STARPU_MATRIX_GET_NY(buffers[0]),
		 ld = STARPU_MATRIX_GET_LD(buffers[0]);

	starpu_codelet_unpack_args(arg, &seed);
	for (uint32_t y = 0; y < ny; y++)
		for (uint32_t x = 0; x < nx; x++)
			v[y * ld + x] = seed + (int) (y * nx + x);
}

static void cpu_check(void *buffers[], void *arg)
{
	const int *v = (const int *) STARPU_MATRIX_GET_PTR(buffers[1]);
	uint32_t nx = STARPU_MATRIX_GET_NX(buffers[1]), ny = STARPU_MATRIX_GET_NY(buffers[1]),
		 ld = STARPU_MATRIX_GET_LD(buffers[1]);
	int seed;

	starpu_codelet_unpack_args(arg, &seed);
	for (uint32_t y = 0; y < ny; y++)
		for (uint32_t x = 0; x < nx; x++)
			CHECK(v[y * ld + x] == seed + (int) (y * nx + x),
			      "element %u, %u of the value for %d is %d", x, y, seed,
			      v[y * ld + x]);
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet fill_cl = {
	.cpu_funcs = { cpu_fill }, .nbuffers = 1, .modes = { STARPU_W }, .name = "fill"
};
static struct starpu_codelet check_cl = {
	.cpu_funcs = { cpu_check }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "check"
};

/* A matrix whose rows do not touch on ranks of one parity. */
static int *new_matrix(starpu_data_handle_t *h, uint32_t nx, uint32_t ny)
{
	uint32_t ld = rank % 2 ? nx + 3 : nx;
	int *v = malloc(((size_t) ld * ny + 1) * sizeof(*v));

	starpu_matrix_data_register(h, STARPU_MAIN_RAM, (uintptr_t) v, ld, nx, ny, sizeof(*v));
	return v;
}

/* Values of `root` that all ranks check, one after the other. Each rank inserts only what it has a
 * part in. */
static void broadcasts(int root, uint32_t nx, uint32_t ny, int all)
{
	starpu_data_handle_t h, *count = malloc((size_t) size * sizeof(*count));
	int *v = new_matrix(&h, nx, ny);

	starpu_mpi_data_register(h, 7, root);
	for (int i = 0; i < size; i++) {
		count[i] = NULL;
		if (i != rank && rank != root)
			continue;
		new_int(&count[i]);
		starpu_mpi_data_register(count[i], 100 + i, i);
		if (i == rank)
			set_int(count[i], 0);
	}
	for (int round = 0; round < ROUNDS; round++) {
		int seed = 1000 * round + root;
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &fill_cl, STARPU_W, h, STARPU_VALUE,
					  &seed, sizeof(seed), 0));
		if (all)
			starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, h);
		for (int i = 0; i < size; i++)
			if (count[i])
				OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &check_cl, STARPU_RW,
							  count[i], STARPU_R, h, STARPU_VALUE,
							  &seed, sizeof(seed), 0));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK_IS(int_of(count[rank]), ROUNDS);
	for (int i = 0; i < size; i++)
		if (count[i])
			starpu_data_unregister(count[i]);
	starpu_data_unregister(h);
	free(count);
	free(v);
}

static void tree_or_not(void)
{
	int n = receivers(0), total = 0;

	MPI_Allreduce(&n, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK_IS(total, size - 1); /* each hop is counted where it was taken */
	if (size >= 32 && rank == 0)
		CHECK(n > 1 && n < size / 2, "with trees rank 0 sends to %d ranks of %d", n, size);
	starpu_mpi_coop_sends_set_use(0);
	CHECK_IS(starpu_mpi_coop_sends_get_use(), 0);
	n = receivers(0);
	CHECK_IS(n, rank == 0 ? size - 1 : 0);
	starpu_mpi_coop_sends_set_use(1);
	CHECK_IS(starpu_mpi_coop_sends_get_use(), 1);
}

/* Sends of the program itself: announced ones wait for each other. */
static void announced(void)
{
	starpu_data_handle_t h;
	size_t *bytes = calloc((size_t) size, sizeof(*bytes)),
	       *before = calloc((size_t) size, sizeof(*bytes));
	int n = 0;

	new_int(&h);
	starpu_mpi_comm_stats_retrieve(before);
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	if (rank == 0) {
		set_int(h, 11);
		starpu_mpi_coop_sends_data_handle_nb_sends(h, size - 1);
		for (int i = 1; i < size; i++)
			OK(starpu_mpi_isend_detached(h, i, 3, MPI_COMM_WORLD, NULL, NULL));
		/* Fewer than announced go when the program waits. */
		starpu_mpi_coop_sends_data_handle_nb_sends(h, 1000);
		for (int i = 1; i < size; i++)
			OK(starpu_mpi_isend_detached(h, i, 4, MPI_COMM_WORLD, NULL, NULL));
	} else {
		OK(starpu_mpi_recv(h, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK_IS(int_of(h), 11);
		OK(starpu_mpi_recv(h, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	starpu_mpi_comm_stats_retrieve(bytes);
	for (int i = 0; i < size; i++)
		n += bytes[i] > before[i];
	if (size >= 32 && rank == 0)
		CHECK(n > 1 && n < size / 2, "announced sends went to %d ranks of %d", n, size);
	starpu_data_unregister(h);
	free(bytes);
	free(before);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	CHECK_IS(starpu_mpi_coop_sends_get_use(), 1);
	starpu_mpi_comm_stats_enable();
	for (int all = 0; all < 2; all++) {
		broadcasts(0, 1, 1, all);
		broadcasts(1, 30, 20, all);
		broadcasts(0, 100, 90, all);
		broadcasts(size - 1, 700, 1000, all);
	}
	tree_or_not();
	announced();
	return end();
}
