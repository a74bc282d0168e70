/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions of vectors: contributions, the ways to combine them, and how many ranks send parts to
 * the owner. Same text in both worlds. */
#ifndef REDUX_TEST_H
#define REDUX_TEST_H

#include "mpi_test.h"

enum { NX = 300, ROUNDS = 4 };

static void cpu_zero(void *buffers[], void *arg)
{
	(void) arg;
	memset((void *) STARPU_VECTOR_GET_PTR(buffers[0]), 0,
	       STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(int));
}

static void cpu_add(void *buffers[], void *arg)
{
	int *a = (int *) STARPU_VECTOR_GET_PTR(buffers[0]),
	    *b = (int *) STARPU_VECTOR_GET_PTR(buffers[1]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		a[i] += b[i];
}

/* Adds value + i to element i. */
static void cpu_contribute(void *buffers[], void *arg)
{
	int *a = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		a[i] += value + (int) i;
}

static struct starpu_codelet zero_cl = {
	.cpu_funcs = { cpu_zero }, .nbuffers = 1, .modes = { STARPU_W }, .name = "zero"
};
static struct starpu_codelet add_cl = { .cpu_funcs = { cpu_add },
					.nbuffers = 2,
					.modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
					.name = "add" };
static struct starpu_codelet contribute_cl = { .cpu_funcs = { cpu_contribute },
					       .nbuffers = 1,
					       .modes = { STARPU_REDUX },
					       .name = "contribute" };

static void new_vector(starpu_data_handle_t *h, unsigned nx, int owner)
{
	starpu_vector_data_register(h, -1, 0, nx, sizeof(int));
	starpu_mpi_data_register(*h, 9, owner);
	starpu_data_set_reduction_methods(*h, &add_cl, &zero_cl);
	if (rank == owner)
		OK(starpu_task_insert(&zero_cl, STARPU_W, *h, 0));
}

/* Combines by each of the functions in turn. */
static void combine(starpu_data_handle_t h, int arity, int round)
{
	if (round % 4 == 0)
		OK(starpu_mpi_redux_data_tree(MPI_COMM_WORLD, h, arity));
	else if (arity || round % 4 == 1)
		OK(starpu_mpi_redux_data_prio_tree(MPI_COMM_WORLD, h, round, arity));
	else if (round % 4 == 2)
		OK(starpu_mpi_redux_data(MPI_COMM_WORLD, h));
	else
		OK(starpu_mpi_redux_data_prio(MPI_COMM_WORLD, h, round));
}

/* Ranks below `n` contribute ROUNDS times; each inserts only its own tasks. Returns how many ranks
 * the owner received from. */
static void reduce(unsigned nx, int owner, int n, int arity)
{
	starpu_data_handle_t h;
	int sum = 0;

	new_vector(&h, nx, owner);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < n; i++) {
			int value = 100 * round + i;
			if (i == rank || rank == owner)
				OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &contribute_cl,
							  STARPU_REDUX, h, STARPU_VALUE, &value,
							  sizeof(value), STARPU_EXECUTE_ON_NODE, i,
							  0));
			sum += value;
		}
		combine(h, arity, round);
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == owner) {
		OK(starpu_data_acquire(h, STARPU_R));
		const int *v = (const int *) starpu_data_get_local_ptr(h);
		for (unsigned i = 0; i < nx; i++)
			CHECK(v[i] == sum + ROUNDS * n * (int) i,
			      "arity %d, %d contributors, %u elements: element %u is %d, not %d",
			      arity, n, nx, i, v[i], sum + ROUNDS * n * (int) i);
		starpu_data_release(h);
	}
	starpu_data_unregister(h);
}

/* How many ranks sent something to rank 0 while all of them contributed. */
static int senders(unsigned nx, int arity)
{
	size_t *before = malloc((size_t) size * sizeof(*before)),
	       *after = malloc((size_t) size * sizeof(*after));
	int n = 0;

	starpu_mpi_comm_stats_retrieve(before);
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	reduce(nx, 0, size, arity);
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	starpu_mpi_comm_stats_retrieve(after);
	int sent = after[0] > before[0];
	MPI_Allreduce(&sent, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	free(before);
	free(after);
	return n;
}

#endif
