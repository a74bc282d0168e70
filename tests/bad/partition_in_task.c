/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocking partition inside a kernel: stops, naming the task and the remedy.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect starpu_data_partition of "v" inside task or callback cutter would block its worker: use the _submit form
 */
#include "bad_test.h"

static float v[12];
static starpu_data_handle_t h;

static void kernel(void *buffers[], void *arg)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 3 };

	(void) buffers;
	(void) arg;
	starpu_data_partition(h, &f);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "cutter" };

int main(void)
{
	start();
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 12, sizeof(*v));
	starpu_data_set_name(h, "v");
	if (starpu_task_insert(&cl, 0) == 0)
		starpu_task_wait_for_all();
	return 0;
}
