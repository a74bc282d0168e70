/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* More data than STARPU_NMAXBUFS without lists: -EINVAL naming the lists.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect exceed STARPU_NMAXBUFS .*dyn_modes
 * orr-test: expect exceed STARPU_NMAXBUFS .*dyn_handles
 */
#include "bad_test.h"

static struct starpu_codelet fixed = { .cpu_funcs = { nothing }, .nbuffers = STARPU_NMAXBUFS + 1 };
static struct starpu_codelet open = { .cpu_funcs = { nothing },
				      .nbuffers = STARPU_VARIABLE_NBUFFERS };

int main(void)
{
	struct starpu_task *task;
	int ret;

	start();
	task = starpu_task_create();
	task->cl = &fixed;
	task->dyn_handles = calloc(STARPU_NMAXBUFS + 1, sizeof(*task->dyn_handles));
	ret = starpu_task_submit(task);
	if (ret != -EINVAL)
		refused(ret, -EINVAL);
	free(task->dyn_handles);
	task->dyn_handles = NULL;
	task->cl = &open;
	task->nbuffers = STARPU_NMAXBUFS + 1;
	ret = starpu_task_submit(task);
	starpu_task_destroy(task);
	refused(ret, -EINVAL);
}
