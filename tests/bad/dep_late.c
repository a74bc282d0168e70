/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A dependency that is declared when the task is submitted: stops, naming the task.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task late is submitted already; declare its dependencies before
 */
#include "bad_test.h"

static struct starpu_codelet cl = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "late"
};

int main(void)
{
	struct starpu_task *task, *other;
	starpu_data_handle_t h;
	int x = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	task = starpu_task_build(&cl, STARPU_RW, h, 0);
	other = starpu_task_create();
	if (starpu_data_acquire(h, STARPU_RW) || starpu_task_submit(task))
		return 0;
	starpu_task_declare_deps(task, 1, other);
	return 0;
}
