/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that is submitted while it is pending: -EINVAL.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task twice was submitted already and has not completed
 */
#include "bad_test.h"

static struct starpu_codelet cl = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "twice"
};

int main(void)
{
	struct starpu_task *task;
	starpu_data_handle_t h;
	int x = 0, ret;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	task = starpu_task_build(&cl, STARPU_RW, h, 0);
	if (starpu_data_acquire(h, STARPU_RW) || starpu_task_submit(task))
		return 0;
	ret = starpu_task_submit(task);
	starpu_data_release(h);
	starpu_data_unregister(h);
	refused(ret, -EINVAL);
}
