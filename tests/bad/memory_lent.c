/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task needs memory that the program has taken, and the program waits for the task: the run ends
 * with a list that says so.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: sim-args --kernels=run
 * orr-test: env STARPU_LIMIT_CPU_MEM=4
 * orr-test: expect task write waits for memory: .* and the program has taken 2097152 by
 * orr-test: expect task write .job [0-9]+.: .*waits for 3145728 bytes on memory node 0 for vector
 */
#include "bad_test.h"

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet cl = {
	.cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_W }, .name = "write"
};

int main(void)
{
	starpu_data_handle_t h;

	start();
	starpu_vector_data_register(&h, -1, 0, 3 << 20, 1);
	if (starpu_memory_allocate(STARPU_MAIN_RAM, 2 << 20, 0) == 0 &&
	    starpu_task_insert(&cl, STARPU_W, h, 0) == 0)
		starpu_task_wait_for_all();
	return 0;
}
