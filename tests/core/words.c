/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words that programs build with: assertions that hold cost nothing and evaluate once, a codelet
 * may have STARPU_MAXIMPLEMENTATIONS functions, all of which may be of the named type, and
 * functions that allocate may be marked. */
#include "core_test.h"

static struct starpu_task *make(void) STARPU_ATTRIBUTE_MALLOC;

static struct starpu_task *make(void)
{
	return starpu_task_create();
}

int main(void)
{
	struct starpu_codelet cl = { .nbuffers = 0, .name = "many" };
	starpu_cpu_func_t kernel = core_count_kernel;
	int evaluated = 0, ran = 0;

	STARPU_ASSERT(++evaluated == 1);
	STARPU_ASSERT_MSG(++evaluated == 2, "evaluated %d times", evaluated);
	CHECK_IS(evaluated, 2);
	for (int i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		cl.cpu_funcs[i] = kernel;
	core_start(1, NULL);
	struct starpu_task *task = make();
	task->cl = &cl;
	task->cl_arg = &ran;
	OK(starpu_task_submit(task));
	OK(starpu_task_wait_for_all());
	CHECK_IS(ran, 1);
	starpu_shutdown();
	return 0;
}
