/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data and tasks follow the number of ranks in use: owners, values, caches and statistics are right
 * after each of many changes, each datum moves at most once, and no more bytes than must move do.
 * A resize waits for nothing. Mistakes are refused, and owners stay.
 * orr-test: env STARPU_NCPU=2
 * orr-test: sim-ranks 2 4 7 */
#include <orrery_resize.h>
#include "mpi_test.h"

enum { N = 60, INTS = 1000, BYTES = INTS * (int) sizeof(int) };

static starpu_data_handle_t h[N];
static int expected[N], state = 1;
static orrery_distribution_t rule;

/* The same numbers on all ranks. */
static int drawn(int n)
{
	state = (int) (((unsigned) state * 1103515245u + 12345u) & 0x7fffffff);
	return (state >> 8) % n;
}

static void add_cpu(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), by, by_rank;

	starpu_codelet_unpack_args(arg, &by, &by_rank);
	CHECK(by_rank < 0 || by_rank == starpu_mpi_world_rank(), "task of rank %d", by_rank);
	for (int i = 0; i < INTS; i++)
		v[i] += by;
}

static struct starpu_codelet add_cl = {
	.cpu_funcs = { add_cpu }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "add"
};

/* The datum and its owner must have this value. */
static void see_cpu(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), value, i;

	starpu_codelet_unpack_args(arg, &i, &value);
	CHECK(v[0] == value && v[INTS - 1] == value, "data %d are %d, not %d", i, v[0], value);
}

static struct starpu_codelet see_cl = {
	.cpu_funcs = { see_cpu }, .nbuffers = 1, .modes = { STARPU_R }, .name = "see"
};

static void add(int i, int by)
{
	int owner = starpu_mpi_data_get_rank(h[i]);

	expected[i] += by;
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_VALUE, &by, sizeof(by),
				  STARPU_VALUE, &owner, sizeof(owner), STARPU_RW, h[i], 0));
}

static void see(int i, int where)
{
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &see_cl, STARPU_VALUE, &i, sizeof(i),
				  STARPU_VALUE, &expected[i], sizeof(int), STARPU_R, h[i],
				  STARPU_EXECUTE_ON_NODE, where, 0));
}

static void settle(void)
{
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
}

/* Bytes that all ranks have sent. */
static unsigned long sent(void)
{
	size_t *to = calloc((size_t) size, sizeof(*to));
	unsigned long mine = 0, all;

	starpu_mpi_comm_stats_retrieve(to);
	for (int r = 0; r < size; r++)
		mine += to[r];
	free(to);
	MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

/* Changes the number while nothing else goes on; all data were written since the last change. */
static void measured_resize(int n)
{
	int before[N], changed = 0, old = orrery_resize_size(MPI_COMM_WORLD),
		       least = old < n ? old : n, most = old < n ? n : old;
	struct orrery_resize_stats was, is;

	settle();
	unsigned long bytes = sent();
	orrery_resize_get_stats(&was);
	for (int i = 0; i < N; i++)
		before[i] = starpu_mpi_data_get_rank(h[i]);
	OK(orrery_resize(MPI_COMM_WORLD, n));
	CHECK_IS(orrery_resize_size(MPI_COMM_WORLD), n);
	settle();
	bytes = sent() - bytes;
	for (int i = 0; i < N; i++) {
		int owner = starpu_mpi_data_get_rank(h[i]);
		CHECK_IS(owner, orrery_distribution_owner(rule, i, n));
		changed += before[i] != owner;
	}
	/* So none moved twice: */
	CHECK_IS(bytes, (long) changed * BYTES);
	CHECK((double) bytes * most <= 1.05 * N * BYTES * (most - least) + most * BYTES,
	      "%d to %d: %lu bytes", old, n, bytes);
	orrery_resize_get_stats(&is);
	CHECK_IS(is.resizes - was.resizes, n != old);
	uint64_t mine[3] = { is.given - was.given, is.taken - was.taken,
			     is.sent_bytes - was.sent_bytes },
		 all[3];
	MPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	CHECK_IS(all[0], changed);
	CHECK_IS(all[1], changed);
	CHECK_IS(all[2], (long) bytes);
}

/* Ranks that are not in use have nothing, and nobody believes that they do. */
static void check_released(int n)
{
	for (int i = 0; i < N; i++) {
		CHECK(rank < n || !starpu_mpi_cached_receive(h[i]), "data %d", i);
		for (int r = n; r < size && starpu_mpi_data_get_rank(h[i]) == rank; r++)
			CHECK(!starpu_mpi_cached_send(h[i], r), "data %d on %d", i, r);
	}
}

static void change(void)
{
	for (int step = 0; step < 12; step++) {
		int n = 1 + drawn(size);
		for (int i = 0; i < N; i++)
			add(i, step + i);
		/* Copies on other ranks, which the change must not leave wrong. */
		for (int k = 0; k < N; k++)
			see(drawn(N), drawn(size));
		for (int i = 0; i < N; i++)
			add(i, 1);
		measured_resize(n);
		check_released(n);
		for (int k = 0; k < N; k++)
			see(drawn(N), drawn(n));
		for (int i = 0; i < N; i++)
			see(i, starpu_mpi_data_get_rank(h[i]));
	}
	settle();
}

/* Nothing is drained between changes. */
static void change_in_flight(void)
{
	for (int step = 0; step < 60; step++) {
		for (int k = 0; k < 5; k++) {
			add(drawn(N), step);
			see(drawn(N), drawn(size));
		}
		OK(orrery_resize(MPI_COMM_WORLD, 1 + drawn(size)));
	}
	OK(orrery_resize(MPI_COMM_WORLD, size));
	for (int i = 0; i < N; i++) {
		see(i, drawn(size));
		add(i, 1);
	}
	settle();
}

/* ---- a resize waits for nothing ---- */

/* The last rank's data move, but its program still uses one of them: the resize returns, and tasks
 * of other data go on meanwhile. */
static void no_wait(void)
{
	int moving = -1, staying = -1;

	OK(orrery_resize(MPI_COMM_WORLD, size));
	settle();
	for (int i = 0; i < N; i++) {
		int owner = starpu_mpi_data_get_rank(h[i]);
		moving = owner == size - 1 ? i : moving;
		staying = owner == 0 ? i : staying;
	}
	if (rank == size - 1)
		OK(starpu_data_acquire(h[moving], STARPU_RW));
	OK(orrery_resize(MPI_COMM_WORLD, size - 1));
	add(moving, 1);
	add(staying, 1);
	if (rank == 0) {
		OK(starpu_data_acquire(h[staying], STARPU_R));
		starpu_data_release(h[staying]);
	}
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	if (rank == size - 1)
		starpu_data_release(h[moving]);
	see(moving, 0);
	see(staying, 0);
	settle();
}

/* ---- contributions to reductions, load balancing by hand, mistakes ---- */

static void zero_cpu(void *buffers[], void *arg)
{
	(void) arg;
	memset((void *) STARPU_VECTOR_GET_PTR(buffers[0]), 0, BYTES);
}

static void sum_cpu(void *buffers[], void *arg)
{
	int *a = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);
	const int *b = (const int *) STARPU_VECTOR_GET_PTR(buffers[1]);

	(void) arg;
	for (int i = 0; i < INTS; i++)
		a[i] += b[i];
}

static struct starpu_codelet zero_cl = {
	.cpu_funcs = { zero_cpu }, .nbuffers = 1, .modes = { STARPU_W }, .name = "zero"
};
static struct starpu_codelet sum_cl = {
	.cpu_funcs = { sum_cpu }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "sum"
};
static struct starpu_codelet contribute_cl = {
	.cpu_funcs = { add_cpu }, .nbuffers = 1, .modes = { STARPU_REDUX }, .name = "contribute"
};

static void reduce_and_resize(void)
{
	int anybody = -1, one = 1;

	for (int i = 0; i < N; i += 7) {
		starpu_data_set_reduction_methods(h[i], &sum_cl, &zero_cl);
		for (int r = 0; r < size; r++)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute_cl, STARPU_VALUE,
						  &one, sizeof(one), STARPU_VALUE, &anybody,
						  sizeof(anybody), STARPU_REDUX, h[i],
						  STARPU_EXECUTE_ON_NODE, r, 0));
		expected[i] += size;
	}
	OK(orrery_resize(MPI_COMM_WORLD, 1));
	for (int i = 0; i < N; i++)
		see(i, 0);
	OK(orrery_resize(MPI_COMM_WORLD, size));
	settle();
}

/* A datum that the program moved itself comes back, from where the copy still is without a message.
 */
static void undo(void)
{
	unsigned long bytes;

	for (int i = 0; i < N; i++)
		add(i, 1);
	for (int i = 0; i < N; i++)
		starpu_mpi_data_migrate(MPI_COMM_WORLD, h[i],
					(starpu_mpi_data_get_rank(h[i]) + 1) % size);
	settle();
	bytes = sent();
	OK(orrery_resize(MPI_COMM_WORLD, size));
	settle();
	CHECK_IS(sent() - bytes, 0);
	for (int i = 0; i < N; i++) {
		CHECK_IS(starpu_mpi_data_get_rank(h[i]), orrery_distribution_owner(rule, i, size));
		see(i, starpu_mpi_data_get_rank(h[i]));
	}
	settle();
}

static int wrong_rule(int64_t index, int nranks, void *arg)
{
	(void) arg;
	return nranks == size ? (int) index % size : nranks;
}

static void mistakes(void)
{
	int before[N];
	orrery_distribution_t wrong = orrery_distribution_function(wrong_rule, NULL);
	starpu_data_handle_t other;

	for (int i = 0; i < N; i++)
		before[i] = starpu_mpi_data_get_rank(h[i]);
	CHECK_IS(orrery_resize(MPI_COMM_WORLD, 0), -EINVAL);
	CHECK_IS(orrery_resize(MPI_COMM_WORLD, size + 1), -EINVAL);
	CHECK_IS(orrery_resize(MPI_COMM_SELF, 1), -EINVAL);
	CHECK_IS(orrery_resize_follow(MPI_COMM_WORLD, NULL, rule, 0), -EINVAL);
	CHECK_IS(orrery_resize_follow(MPI_COMM_WORLD, h[0], NULL, 0), -EINVAL);
	CHECK_IS(orrery_resize_follow(MPI_COMM_WORLD, h[0], rule, N), -EINVAL);
	new_int(&other);
	CHECK_IS(orrery_resize_follow(MPI_COMM_WORLD, other, rule, 0), -EINVAL);
	starpu_mpi_data_register(other, N, STARPU_MPI_PER_NODE);
	CHECK_IS(orrery_resize_follow(MPI_COMM_WORLD, other, rule, 0), -EINVAL);
	starpu_mpi_data_set_rank(other, 0);
	OK(orrery_resize_follow(MPI_COMM_WORLD, other, wrong, 0));
	if (size > 1)
		CHECK_IS(orrery_resize(MPI_COMM_WORLD, size - 1), -EINVAL);
	CHECK_IS(orrery_resize_size(MPI_COMM_WORLD), size);
	for (int i = 0; i < N; i++)
		CHECK_IS(starpu_mpi_data_get_rank(h[i]), before[i]);
	/* Now it follows another rule, and then it is gone. */
	OK(orrery_resize_follow(MPI_COMM_WORLD, other, rule, 0));
	OK(orrery_resize(MPI_COMM_WORLD, 1));
	starpu_data_unregister(other);
	OK(orrery_resize(MPI_COMM_WORLD, size));
	orrery_distribution_free(wrong);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_mpi_comm_stats_enable();
	CHECK_IS(orrery_resize_size(MPI_COMM_WORLD), size);
	rule = orrery_distribution_cyclic(N, 2, size > 2 ? 3 : 1);
	for (int i = 0; i < N; i++) {
		int owner = orrery_distribution_owner(rule, i, size);
		starpu_vector_data_register(&h[i], -1, 0, INTS, sizeof(int));
		starpu_mpi_data_register(h[i], i, owner);
		OK(orrery_resize_follow(MPI_COMM_WORLD, h[i], rule, i));
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &zero_cl, STARPU_W, h[i], 0));
	}
	change();
	change_in_flight();
	no_wait();
	reduce_and_resize();
	undo();
	mistakes();
	for (int i = 0; i < N; i += 2)
		starpu_data_unregister(h[i]);
	OK(orrery_resize(MPI_COMM_WORLD, 1));
	for (int i = 1; i < N; i += 2) {
		CHECK_IS(starpu_mpi_data_get_rank(h[i]), 0);
		starpu_data_unregister(h[i]);
	}
	orrery_distribution_free(rule);
	return end();
}
