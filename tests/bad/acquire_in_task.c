/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Acquisition in a kernel: -EDEADLK, and the program goes on.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect acquisition of "wanted" inside task or callback greedy
 */
#include "bad_test.h"

static starpu_data_handle_t h;
static int answer;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	answer = starpu_data_acquire(h, STARPU_R);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "greedy" };

int main(void)
{
	int x = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	starpu_data_set_name(h, "wanted");
	if (starpu_task_insert(&cl, STARPU_TASK_SYNCHRONOUS, 1, 0) || starpu_task_insert(&cl, 0))
		return 0;
	starpu_task_wait_for_all(); /* its kernels use the handle without having declared it */
	starpu_data_unregister(h);
	refused(answer, -EDEADLK);
}
