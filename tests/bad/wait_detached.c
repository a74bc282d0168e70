/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for a task that is detached: -EINVAL.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect starpu_task_wait: task loose is detached
 */
#include "bad_test.h"

static struct starpu_codelet cl = { .cpu_funcs = { nothing }, .name = "loose" };

int main(void)
{
	struct starpu_task *task;
	int ret;

	start();
	task = starpu_task_create();
	task->cl = &cl;
	task->destroy = 0;
	if (starpu_task_submit(task))
		return 0;
	ret = starpu_task_wait(task);
	starpu_task_wait_for_all();
	starpu_task_destroy(task);
	refused(ret, -EINVAL);
}
