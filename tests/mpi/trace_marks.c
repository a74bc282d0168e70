/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks of a program and its iterations, one within the other: what tests/tools/trace_viewers.sh
 * and trace_starpu.sh record.
 *
 * Invariant: each rank sets nine marks in each of its iterations, four of which tell where
 * iterations begin and end, and two of which are set by workers. The priority of a task is the
 * number of its iteration; that within it is 10 more, and has the second task of two. */
#include <starpu_mpi.h>
#include "lib/test.h"

#define ITERATIONS 3

static void step(void **buffers, void *arg)
{
	(void) arg;
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
	starpu_fxt_trace_user_event_string("within a kernel");
}

static struct starpu_codelet cl = {
	.cpu_funcs = { step }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "marked"
};

static void nothing(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet outside = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "outside"
};

int main(int argc, char **argv)
{
	int value = 0, rank;
	starpu_data_handle_t h;

	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	for (int i = 0; i < ITERATIONS; i++) {
		starpu_iteration_push(i);
		OK(starpu_task_insert(&cl, STARPU_RW, h, STARPU_PRIORITY, i, 0));
		starpu_iteration_push(10 + i);
		OK(starpu_task_insert(&cl, STARPU_RW, h, STARPU_PRIORITY, i, 0));
		starpu_iteration_pop();
		starpu_fxt_trace_user_event(100 * rank + i);
		starpu_fxt_trace_user_event_string("half way, \"quoted\"");
		starpu_fxt_trace_user_meta_string("about the run");
		OK(starpu_task_wait_for_all());
		starpu_iteration_pop();
	}
	OK(starpu_task_insert(&outside, STARPU_RW, h, 0));
	starpu_data_unregister(h);
	CHECK_IS(value, 2 * ITERATIONS);
	starpu_mpi_shutdown();
	return 0;
}
