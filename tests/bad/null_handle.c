/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task with a NULL handle: -EINVAL naming task and position.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task incomplete: datum 1 is a NULL handle
 */
#include "bad_test.h"

static struct starpu_codelet cl = { .cpu_funcs = { nothing },
				    .nbuffers = 2,
				    .modes = { STARPU_R, STARPU_RW },
				    .name = "incomplete" };

int main(void)
{
	struct starpu_task *task;
	starpu_data_handle_t h;
	int x = 0, ret;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	task = starpu_task_create();
	task->cl = &cl;
	task->handles[0] = h;
	ret = starpu_task_submit(task);
	starpu_task_destroy(task);
	starpu_data_unregister(h);
	refused(ret, -EINVAL);
}
