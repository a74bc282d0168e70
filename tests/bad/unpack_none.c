/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel that unpacks arguments of a task that was inserted without any: stops, and names the
 * task.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task greedy unpacks arguments, but has none; insert it with STARPU_VALUE
 */
#include "bad_test.h"

static void kernel(void *buffers[], void *arg)
{
	int a;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &a);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "greedy" };

int main(void)
{
	start();
	if (starpu_task_insert(&cl, 0) == 0)
		starpu_task_wait_for_all();
	return 0;
}
