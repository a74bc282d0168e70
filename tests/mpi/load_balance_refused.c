/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load balancing that cannot start says why, and data stay where they are.
 * orr-test: expect there is no policy 'fair'
 * orr-test: expect needs both functions
 * orr-test: expect data are registered already
 * orr-test: expect a policy runs already
 * orr-test: expect get_neighbors\(\) names rank [0-9]+
 * orr-test: expect does not own it
 * orr-test: env STARPU_MPI_STATS=1
 * orr-test: expect 0 data given to other ranks, 0 taken */
#include <starpu_mpi_lb.h>
#include "mpi_test.h"

static starpu_data_handle_t mine, others;

static void get_neighbours(int **ids, int *n)
{
	*ids = malloc(2 * sizeof(**ids));
	(*ids)[0] = size;
	(*ids)[1] = !rank;
	*n = 2;
}

/* Offers the datum of the other rank. */
static void get_unit(starpu_data_handle_t **unit, int *n, int to)
{
	(void) to;
	*unit = malloc(sizeof(**unit));
	**unit = others;
	*n = 1;
}

/* Only rank 0 has tasks. */
static void iterate(int n)
{
	for (int t = 0; t < n; t++) {
		starpu_iteration_push((unsigned long) t);
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &increment_cl, STARPU_RW,
					  rank == 0 ? mine : others, 0));
		OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
		starpu_iteration_pop();
	}
}

int main(int argc, char **argv)
{
	struct starpu_mpi_lb_conf whole = { get_neighbours, get_unit }, half = { NULL, get_unit };

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_mpi_lb_init(NULL, &whole);
	starpu_mpi_lb_init("", &whole);
	starpu_mpi_lb_init("fair", &whole);
	starpu_mpi_lb_init("heat", &half);
	starpu_mpi_lb_init("heat", NULL);
	starpu_mpi_lb_init("heat", &whole);
	starpu_mpi_lb_init("heat", &whole);
	int first[2] = { 0, 0 };
	starpu_data_handle_t h[2];
	for (int i = 0; i < 2; i++) {
		if (i == rank)
			starpu_variable_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) &first[i],
						      sizeof(int));
		else
			new_int(&h[i]);
		starpu_mpi_data_register(h[i], i, i);
	}
	mine = h[rank == 1];
	others = h[rank != 1];
	iterate(4);
	CHECK_IS(starpu_mpi_data_get_rank(h[0]), 0);
	CHECK_IS(starpu_mpi_data_get_rank(h[1]), 1);
	starpu_mpi_lb_shutdown();
	starpu_mpi_lb_init("heat", &whole);
	starpu_data_unregister(h[0]);
	starpu_data_unregister(h[1]);
	if (rank == 0)
		CHECK_IS(first[0], 4);
	return end();
}
