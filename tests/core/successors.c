/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_task_get_task_succs: explicit dependencies, and those that follow from data.
 *
 * Invariant: a task is named once, whatever it waits for. */
#include "core_test.h"

static int nothing;
static struct starpu_codelet cl0 = { .cpu_funcs = { core_count_kernel }, .name = "explicit" };
static struct starpu_codelet cl1 = { .cpu_funcs = { core_count_kernel },
				     .nbuffers = STARPU_VARIABLE_NBUFFERS,
				     .name = "implicit" };

static struct starpu_task *build(starpu_data_handle_t h, int mode)
{
	return starpu_task_build(&cl1, mode, h, STARPU_CL_ARGS_NFREE, &nothing, sizeof(nothing), 0);
}

static int among(struct starpu_task *t, struct starpu_task **v, int n)
{
	int found = 0;

	for (int i = 0; i < n; i++)
		found += v[i] == t;
	return found;
}

int main(void)
{
	struct starpu_task *t[6], *succ[8];
	starpu_tag_t never = 1;
	int x = 0;

	core_start(2, NULL);
	starpu_data_handle_t h = core_register(&x);
	starpu_tag_declare_deps_array(2, 1, &never);
	t[0] = build(h, STARPU_RW);
	t[0]->use_tag = 1;
	t[0]->tag_id = 2;
	CHECK_IS(starpu_task_get_task_succs(t[0], 8, succ), 0);
	t[1] = build(h, STARPU_R);
	t[2] = build(h, STARPU_R);
	t[3] = build(h, STARPU_RW);
	t[4] = build(h, STARPU_R);
	t[5] = starpu_task_build(&cl0, STARPU_CL_ARGS_NFREE, &nothing, sizeof(nothing), 0);
	starpu_task_declare_deps(t[1], 1, t[0]);
	starpu_task_declare_deps(t[5], 1, t[0]);
	for (int i = 0; i < 6; i++)
		CHECK_IS(starpu_task_submit(t[i]), 0);
	/* Two readers and a task without data wait for the first writer. */
	CHECK_IS(starpu_task_get_task_succs(t[0], 8, succ), 3);
	CHECK(among(t[1], succ, 3) == 1 && among(t[2], succ, 3) == 1 && among(t[5], succ, 3) == 1);
	CHECK_IS(starpu_task_get_task_succs(t[0], 0, NULL) >= 3, 1);
	/* The second writer waits for the readers, the last reader for it. */
	CHECK_IS(starpu_task_get_task_succs(t[1], 8, succ), 1);
	CHECK(succ[0] == t[3]);
	CHECK_IS(starpu_task_get_task_succs(t[2], 8, succ), 1);
	CHECK(succ[0] == t[3]);
	CHECK_IS(starpu_task_get_task_succs(t[3], 8, succ), 1);
	CHECK(succ[0] == t[4]);
	CHECK_IS(starpu_task_get_task_succs(t[4], 8, succ), 0);
	starpu_tag_notify_from_apps(never);
	starpu_data_unregister(h);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	CHECK_IS(nothing, 6);
	starpu_shutdown();
	return 0;
}
