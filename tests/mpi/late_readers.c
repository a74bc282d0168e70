/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A datum that is there already when its readers are inserted: each insertion finds one more. They
 * get the value, whatever else is sent between them, whether they are kept for a moment, join a
 * tree or wait until the first ones are served; the next value comes after it; twice the same rank,
 * if the cache is off; each byte is counted once for each reader.
 *
 * orr-test: ranks 4
 * orr-test: sim-ranks 3 9 40 */
#include "mpi_test.h"

enum { ROUNDS = 4 };

static void cpu_check(void *buffers[], void *arg)
{
	const int *v = (const int *) STARPU_VECTOR_GET_PTR(buffers[1]);
	int seed;

	starpu_codelet_unpack_args(arg, &seed);
	for (uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[1]); i++)
		CHECK(v[i] == seed + (int) i, "element %u of the value for %d is %d", i, seed,
		      v[i]);
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet check_cl = {
	.cpu_funcs = { cpu_check }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "check"
};

/* On rank 0. */
static void write_value(starpu_data_handle_t h, int seed)
{
	OK(starpu_data_acquire(h, STARPU_W));
	int *v = (int *) starpu_vector_get_local_ptr(h);
	for (uint32_t i = 0; i < starpu_vector_get_nx(h); i++)
		v[i] = seed + (int) i;
	starpu_data_release(h);
}

/* What each rank has sent to the others, in messages of that many bytes. */
static size_t nsent(size_t bytes)
{
	size_t *all = calloc((size_t) size, sizeof(*all)), mine = 0, sum = 0;

	starpu_mpi_comm_stats_retrieve(all);
	for (int i = 0; i < size; i++)
		mine += all[i];
	MPI_Allreduce(&mine, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
	free(all);
	return sum / bytes;
}

/* Readers of values of rank 0, one after the other; with `between`, another datum goes to one rank
 * in the middle. Each rank inserts what it has a part in. */
static void readers(uint32_t nx, int times, int between, int prio)
{
	starpu_data_handle_t h, other, *count = calloc((size_t) size, sizeof(*count));
	size_t bytes = nx * sizeof(int), before;

	starpu_vector_data_register(&h, -1, 0, nx, sizeof(int));
	starpu_mpi_data_register(h, 7, 0);
	starpu_vector_data_register(&other, -1, 0, nx, sizeof(int));
	starpu_mpi_data_register(other, 8, 0);
	for (int i = 1; i < size; i++) {
		if (i != rank && rank != 0)
			continue;
		new_int(&count[i]);
		starpu_mpi_data_register(count[i], 100 + i, i);
		if (i == rank)
			set_int(count[i], 0);
	}
	before = nsent(bytes);
	for (int round = 0; round < ROUNDS; round++) {
		int seed = 1000 * round + 1, seed2 = seed + 500;
		if (rank == 0) {
			write_value(h, seed);
			write_value(other, seed2);
		}
		starpu_mpi_cache_flush(MPI_COMM_WORLD, h);
		starpu_mpi_cache_flush(MPI_COMM_WORLD, other);
		OK(starpu_mpi_barrier(MPI_COMM_WORLD));
		for (int i = 1; i < size * times; i++) {
			int to = i % size;
			if (count[to])
				OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &check_cl, STARPU_RW,
							  count[to], STARPU_R, h, STARPU_VALUE,
							  &seed, sizeof(seed), STARPU_PRIORITY,
							  prio * i, 0));
			if (between && i == size / 2 && count[to])
				OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &check_cl, STARPU_RW,
							  count[to], STARPU_R, other, STARPU_VALUE,
							  &seed2, sizeof(seed2), 0));
		}
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank)
		CHECK_IS(int_of(count[rank]), ROUNDS * (times + (between && rank == size / 2)));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	CHECK_IS(nsent(bytes) - before, (size_t) ROUNDS * ((size - 1) * times + !!between));
	for (int i = 1; i < size; i++)
		if (count[i])
			starpu_data_unregister(count[i]);
	starpu_data_unregister(h);
	starpu_data_unregister(other);
	free(count);
}

int main(int argc, char **argv)
{
	static const uint32_t nx[] = { 1, 1024, 5000, 16384, 65536, 262144, 1048576 };

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_mpi_comm_stats_enable();
	for (unsigned i = 0; i < sizeof(nx) / sizeof(*nx); i++) {
		if (size > 9 && nx[i] > 262144)
			continue;
		readers(nx[i], 1, 0, 0);
		readers(nx[i], 1, 1, 1);
	}
	starpu_mpi_cache_set(0);
	readers(16384, 2, 0, -1);
	readers(262144, 2, 1, 0);
	return end();
}
