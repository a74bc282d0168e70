/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_NOWHERE by itself and beside kinds of workers, in codelets and in tasks: a table.
 *
 * Invariant: a task executes nowhere if STARPU_NOWHERE is all that its `where` says. Beside kinds
 * of workers that bit changes nothing: one of them executes the task, or the submission is refused
 * because there is none. */
#include "core_test.h"

#include <errno.h>

enum outcome { RUNS, NOWHERE, REFUSED };

#define UNSET -1

static const struct {
	uint32_t codelet;
	int task;
	enum outcome outcome;
} cases[] = {
	{ 0, UNSET, RUNS },
	{ STARPU_CPU, UNSET, RUNS },
	{ STARPU_NOWHERE, UNSET, NOWHERE },
	{ STARPU_NOWHERE | STARPU_CPU, UNSET, RUNS },
	{ STARPU_NOWHERE | STARPU_CPU | STARPU_CUDA | STARPU_OPENCL, UNSET, RUNS },
	{ STARPU_NOWHERE | STARPU_HIP, UNSET, REFUSED },
	{ STARPU_HIP, UNSET, REFUSED },
	{ 0, STARPU_CPU, RUNS },
	{ 0, STARPU_NOWHERE, NOWHERE },
	{ STARPU_CPU, STARPU_NOWHERE, NOWHERE },
	{ STARPU_NOWHERE, STARPU_CPU, RUNS },
	{ STARPU_NOWHERE, STARPU_NOWHERE | STARPU_CPU, RUNS },
	{ STARPU_CPU, STARPU_NOWHERE | STARPU_CPU, RUNS },
	{ 0, STARPU_NOWHERE | STARPU_CPU, RUNS },
	{ STARPU_CPU, STARPU_NOWHERE | STARPU_HIP, REFUSED },
};

static void set(void *buffers[], void *arg)
{
	(void) arg;
	*core_int(buffers[0]) = 42;
}

static struct starpu_task *build(struct starpu_codelet *cl, starpu_data_handle_t h, int where)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = h;
	task->where = where;
	task->synchronous = 1;
	return task;
}

/* inserted: by starpu_task_insert() rather than by the task's fields. */
static void one(unsigned i, int inserted)
{
	struct starpu_codelet cl = { .where = cases[i].codelet,
				     .cpu_funcs = { set },
				     .nbuffers = 1,
				     .modes = { STARPU_RW } };
	struct starpu_task *task = NULL;
	int value = 1, ret;
	starpu_data_handle_t h = core_register(&value);

	if (inserted && cases[i].task != UNSET)
		ret = starpu_task_insert(&cl, STARPU_EXECUTE_WHERE,
					 (unsigned long long) cases[i].task, STARPU_RW, h, 0);
	else if (inserted)
		ret = starpu_task_insert(&cl, STARPU_RW, h, 0);
	else
		ret = starpu_task_submit(task = build(&cl, h, cases[i].task));
	CHECK(ret == (cases[i].outcome == REFUSED ? -ENODEV : 0), "case %u gives %d", i, ret);
	if (task && ret)
		starpu_task_destroy(task);
	starpu_data_unregister(h);
	CHECK(value == (cases[i].outcome == RUNS ? 42 : 1), "case %u leaves %d", i, value);
}

int main(void)
{
	core_start(2, NULL);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		one(i, 0);
		one(i, 1);
	}
	starpu_shutdown();
	return 0;
}
