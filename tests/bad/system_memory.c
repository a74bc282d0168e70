/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task whose datum the system has no memory for, though the program set no limit: stops, and says
 * that the system refused.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: sim-args --kernels=run
 * orr-test: expect task filler needs 4096 bytes .*and the system gives no more; use a machine with more memory
 */
#include "bad_test.h"

static struct starpu_codelet cl = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_W }, .name = "filler"
};

static int no_memory(unsigned node, void **p, size_t size, int flags)
{
	(void) node;
	(void) p;
	(void) size;
	(void) flags;
	return -ENOMEM;
}

static int nothing_to_free(unsigned node, void *p, size_t size, int flags)
{
	(void) node;
	(void) p;
	(void) size;
	(void) flags;
	return 0;
}

int main(void)
{
	starpu_data_handle_t h;

	start();
	starpu_malloc_set_hooks(no_memory, nothing_to_free);
	starpu_vector_data_register(&h, -1, 0, 4096, 1);
	if (starpu_task_insert(&cl, STARPU_W, h, 0) == 0)
		starpu_task_wait_for_all();
	return 0;
}
