/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Demands are met at points: by all ranks at the same one, at most two points after they were made,
 * the last one of several, from any thread of rank 0. Wrong demands are refused. A program may end
 * while the ranks still agree on something.
 * orr-test: env STARPU_NCPU=1
 * orr-test: sim-ranks 2 4 7 */
#include <orrery_resize.h>
#include "mpi_test.h"

enum { N = 16, POINTS = 24 };

/* Demands by a task of rank 0, which is another thread. */
static void ask_cpu(void *buffers[], void *arg)
{
	int n;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &n);
	OK(orrery_resize_ask(MPI_COMM_WORLD, n));
}

static struct starpu_codelet ask_cl = { .cpu_funcs = { ask_cpu }, .name = "ask" };

static int wanted(int point)
{
	return 1 + point / 4 * 3 % size;
}

static void demand(int point)
{
	int n = wanted(point);

	if (rank || point % 4)
		return;
	OK(orrery_resize_ask(MPI_COMM_WORLD, 1));
	if (point % 8)
		OK(starpu_task_insert(&ask_cl, STARPU_VALUE, &n, sizeof(n), 0));
	else
		OK(orrery_resize_ask(MPI_COMM_WORLD, n));
	OK(starpu_task_wait_for_all());
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h[N];
	int sizes[POINTS], least[POINTS], most[POINTS];

	if (!begin(&argc, &argv, 2))
		return 77;
	orrery_distribution_t rule = orrery_distribution_block(N, 1);
	for (int i = 0; i < N; i++) {
		new_int(&h[i]);
		starpu_mpi_data_register(h[i], i, orrery_distribution_owner(rule, i, size));
		OK(orrery_resize_follow(MPI_COMM_WORLD, h[i], rule, i));
		int zero = 0;
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_VALUE, &zero,
					  sizeof(zero), STARPU_W, h[i], 0));
	}
	CHECK_IS(orrery_resize_ask(MPI_COMM_WORLD, size + 1), -EINVAL);
	CHECK_IS(orrery_resize_ask(MPI_COMM_WORLD, 0), -EINVAL);
	if (rank)
		CHECK_IS(orrery_resize_ask(MPI_COMM_WORLD, 1), -EINVAL);
	for (int point = 0; point < POINTS; point++) {
		demand(point);
		sizes[point] = orrery_resize_point(MPI_COMM_WORLD);
		CHECK_IS(sizes[point], orrery_resize_size(MPI_COMM_WORLD));
		if (point % 4)
			CHECK_IS(sizes[point], wanted(point));
		for (int i = 0; i < N; i++) {
			CHECK_IS(starpu_mpi_data_get_rank(h[i]),
				 orrery_distribution_owner(rule, i, sizes[point]));
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW, h[i],
						  0));
		}
	}
	MPI_Allreduce(sizes, least, POINTS, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(sizes, most, POINTS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	for (int point = 0; point < POINTS; point++)
		CHECK(least[point] == most[point], "point %d: %d to %d", point, least[point],
		      most[point]);
	for (int i = 0; i < N; i++) {
		if (starpu_mpi_data_get_rank(h[i]) == rank)
			CHECK_IS(int_of(h[i]), POINTS);
		starpu_data_unregister(h[i]);
	}
	orrery_distribution_free(rule);
	return end();
}
