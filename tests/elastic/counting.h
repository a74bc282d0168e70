/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data that count the steps of a task program while processes join and leave: each step adds 1 to
 * all numbers of a datum, and another task, on any rank, compares them.
 *
 * Invariant: all numbers of a datum are equal between two tasks. */
#ifndef TESTS_ELASTIC_COUNTING_H
#define TESTS_ELASTIC_COUNTING_H

#include <starpu_mpi.h>
#include <string.h>
#include "test.h"

/* The seconds that a task sleeps, so that processes have time to start. */
#ifndef COUNTING_PAUSE_S
#define COUNTING_PAUSE_S 0.0
#endif

static void add_cpu(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i]++;
	if (COUNTING_PAUSE_S > 0)
		starpu_sleep(COUNTING_PAUSE_S);
}

static void see_cpu(void *buffers[], void *arg)
{
	const int *v = (const int *) STARPU_VECTOR_GET_PTR(buffers[0]);
	int wanted;

	starpu_codelet_unpack_args(arg, &wanted);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		CHECK(v[i] == wanted, "%d, not %d", v[i], wanted);
}

static struct starpu_codelet add_cl = {
	.cpu_funcs = { add_cpu }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "add"
};
static struct starpu_codelet see_cl = {
	.cpu_funcs = { see_cpu }, .nbuffers = 1, .modes = { STARPU_R }, .name = "see"
};

/* The owner of these data begins to count. */
static inline void begin_to_count(starpu_data_handle_t *h, int n, int rank)
{
	for (int i = 0; i < n; i++) {
		if (starpu_mpi_data_get_rank(h[i]) != rank)
			continue;
		OK(starpu_data_acquire(h[i], STARPU_W));
		memset(starpu_data_get_local_ptr(h[i]), 0, starpu_data_get_size(h[i]));
		starpu_data_release(h[i]);
	}
}

/* A step of datum i, the number `step` from 0, which rank `sees` looks at. */
static inline void count_step(MPI_Comm comm, starpu_data_handle_t h, int step, int sees)
{
	int value = step + 1;

	OK(starpu_mpi_task_insert(comm, &add_cl, STARPU_RW, h, 0));
	OK(starpu_mpi_task_insert(comm, &see_cl, STARPU_VALUE, &value, sizeof(value), STARPU_R, h,
				  STARPU_EXECUTE_ON_NODE, sees, 0));
}

#endif
