/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two pending tasks with one tag: stops, naming tag and tasks.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect tag 5: task second uses it while task first
 */
#include "bad_test.h"

static struct starpu_codelet first = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "first"
};
static struct starpu_codelet second = { .cpu_funcs = { nothing }, .name = "second" };

int main(void)
{
	starpu_data_handle_t h;
	int x = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	if (starpu_data_acquire(h, STARPU_RW) ||
	    starpu_task_insert(&first, STARPU_RW, h, STARPU_TAG, (starpu_tag_t) 5, 0))
		return 0;
	return starpu_task_insert(&second, STARPU_TAG, (starpu_tag_t) 5, 0) ? 77 : 0;
}
