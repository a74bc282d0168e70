/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel that unpacks what was not packed: stops.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task greedy unpacks more arguments than were packed
 */
#include "bad_test.h"

static void kernel(void *buffers[], void *arg)
{
	struct starpu_codelet_pack_arg_data state;
	int a, b;

	(void) buffers;
	starpu_codelet_unpack_arg_init(&state, arg, 0);
	starpu_codelet_unpack_arg(&state, &a, sizeof(a));
	starpu_codelet_unpack_arg(&state, &b, sizeof(b));
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "greedy" };

int main(void)
{
	int a = 1;

	start();
	if (starpu_task_insert(&cl, STARPU_VALUE, &a, sizeof(a), 0) == 0)
		starpu_task_wait_for_all();
	return 0;
}
