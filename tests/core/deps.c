/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Explicit dependencies between tasks: chains, diamonds, on completed tasks, end dependencies, many
 * of them.
 *
 * Invariant: a task's kernel sees the stamps of all tasks that it depends on. */
#include "core_test.h"

#define MAX 400

static int done[MAX], when[MAX], clock_now;

static void kernel(void *buffers[], void *arg)
{
	int me = (int) (intptr_t) arg;

	(void) buffers;
	when[me] = INCR(clock_now);
	STORE(done[me], 1);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "stamp" };

static struct starpu_task *make(int id)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->cl_arg = (void *) (intptr_t) id;
	task->detach = 0;
	task->destroy = 0;
	done[id] = when[id] = 0;
	return task;
}

static void submit(struct starpu_task *task)
{
	CHECK_IS(starpu_task_submit(task), 0);
}

static void finish(struct starpu_task *task)
{
	CHECK_IS(starpu_task_wait(task), 0);
	CHECK(starpu_task_finished(task));
	starpu_task_destroy(task);
}

static void diamond(void)
{
	for (int round = 0; round < 50; round++) {
		struct starpu_task *t[4], *succ[4], *middle[2];

		for (int i = 0; i < 4; i++)
			t[i] = make(i);
		middle[0] = t[1];
		middle[1] = t[2];
		starpu_task_declare_deps_array(t[1], 1, &t[0]);
		starpu_task_declare_deps(t[2], 1, t[0]);
		starpu_task_declare_deps_array(t[3], 2, middle);
		CHECK_IS(starpu_task_get_task_succs(t[0], 4, succ), 2);
		CHECK((succ[0] == t[1] && succ[1] == t[2]) || (succ[0] == t[2] && succ[1] == t[1]));
		CHECK_IS(starpu_task_get_task_succs(t[3], 0, NULL), 0);
		for (int i = 3; i >= 0; i--)
			submit(t[i]);
		CHECK_IS(starpu_task_wait(t[3]), 0);
		CHECK(when[0] < when[1] && when[0] < when[2] && when[1] < when[3] &&
		      when[2] < when[3]);
		for (int i = 0; i < 4; i++)
			finish(t[i]);
	}
}

/* Dependencies on tasks that are complete, running or not submitted. */
static void completed(void)
{
	struct starpu_task *a = make(0), *b = make(1), *c = make(2), *d = make(3);

	submit(a);
	CHECK_IS(starpu_task_wait(a), 0);
	starpu_task_declare_deps(b, 1, a);
	submit(b);
	CHECK_IS(starpu_task_wait(b), 0);
	starpu_task_declare_deps(c, 3, a, b, d);
	submit(c);
	CHECK(!starpu_task_finished(c));
	submit(d);
	finish(c);
	CHECK(when[3] < when[2] || !when[2]);
	CHECK_IS(starpu_task_wait(d), 0);
	finish(d);
	starpu_task_destroy(a);
	starpu_task_destroy(b);
}

/* A grid in which each task depends on its left and upper neighbours, submitted in random order. */
static void grid(void)
{
	enum { W = 20 };
	struct starpu_task *t[W * W];
	int order[W * W], i;
	unsigned seed = 12345;

	for (i = 0; i < W * W; i++) {
		order[i] = i;
		t[i] = make(i);
	}
	for (i = 0; i < W * W; i++) {
		if (i % W)
			starpu_task_declare_deps(t[i], 1, t[i - 1]);
		if (i >= W)
			starpu_task_declare_deps(t[i], 1, t[i - W]);
	}
	for (i = W * W - 1; i > 0; i--) {
		int j, k;

		seed = seed * 1103515245u + 12345u;
		j = (int) ((seed >> 16) % (unsigned) (i + 1));
		k = order[i];
		order[i] = order[j];
		order[j] = k;
	}
	for (i = 0; i < W * W; i++)
		submit(t[order[i]]);
	CHECK_IS(starpu_task_wait_array(t, W * W), 0);
	for (i = 0; i < W * W; i++) {
		CHECK(!(i % W) || when[i - 1] < when[i]);
		CHECK(i < W || when[i - W] < when[i]);
		starpu_task_destroy(t[i]);
	}
}

/* One waits for many, many wait for one. */
static void fan(void)
{
	struct starpu_task *t[MAX];

	for (int i = 0; i < MAX; i++)
		t[i] = make(i);
	for (int i = 1; i < MAX - 1; i++)
		starpu_task_declare_deps(t[i], 1, t[0]);
	starpu_task_declare_deps_array(t[MAX - 1], MAX - 2, t + 1);
	CHECK_IS(starpu_task_get_task_succs(t[0], 0, NULL), MAX - 2);
	for (int i = MAX - 1; i >= 0; i--)
		submit(t[i]);
	CHECK_IS(starpu_task_wait(t[MAX - 1]), 0);
	for (int i = 1; i < MAX - 1; i++)
		CHECK(when[0] < when[i] && when[i] < when[MAX - 1]);
	for (int i = 0; i < MAX; i++)
		finish(t[i]);
}

/* a is complete, for its successors, only after its end dependencies. */
static void end_deps(void)
{
	struct starpu_task *a = make(0), *b = make(1), *c = make(2), *d = make(3);

	starpu_task_declare_end_deps(a, 1, b);
	starpu_task_declare_deps(c, 1, a);
	starpu_task_declare_end_deps_array(d, 1, &c);
	submit(c);
	submit(a);
	submit(d);
	CHECK(!starpu_task_finished(a) && !starpu_task_finished(c) && !starpu_task_finished(d));
	submit(b);
	finish(d);
	CHECK(when[1] < when[2] && when[0] < when[2] && done[3]);
	finish(c);
	finish(a);
	finish(b);
}

static void release_end(void *arg)
{
	starpu_task_end_dep_release(arg);
}

static void adds_end_dep(void *buffers[], void *arg)
{
	(void) buffers;
	starpu_task_end_dep_add(starpu_task_get_current(), 1);
	CHECK_IS(starpu_task_insert(&starpu_codelet_nop, STARPU_CALLBACK_WITH_ARG_NFREE,
				    release_end, starpu_task_get_current(), 0),
		 0);
	INCR(*(int *) arg);
}

static struct starpu_codelet adds_cl = { .cpu_funcs = { adds_end_dep } };

/* Calls that completion waits for: from the program, from the kernel, by marker. */
static void end_calls(void)
{
	struct starpu_task *a = make(0), *b = make(1), *c;
	int n = 0;

	starpu_task_end_dep_add(a, 2);
	starpu_task_declare_deps(b, 1, a);
	submit(a);
	submit(b);
	starpu_task_end_dep_release(a);
	CHECK(!starpu_task_finished(a) && !LOAD(done[1]));
	starpu_task_end_dep_release(a);
	finish(b);
	finish(a);
	CHECK_IS(starpu_task_insert(&adds_cl, STARPU_CL_ARGS_NFREE, &n, sizeof(n), 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(n, 1);
	c = starpu_task_build(&cl, STARPU_CL_ARGS_NFREE, (void *) (intptr_t) 5, sizeof(int),
			      STARPU_TASK_END_DEP, 1, 0);
	c->detach = 0;
	submit(c);
	starpu_task_end_dep_release(c);
	CHECK_IS(starpu_task_wait(c), 0);
	CHECK(done[5]);
}

/* The markers for both. */
static void markers(void)
{
	struct starpu_task *deps[2] = { make(0), make(1) }, *end = make(2), *task;

	done[3] = 0;
	task = starpu_task_build(&cl, STARPU_CL_ARGS_NFREE, (void *) (intptr_t) 3, sizeof(int),
				 STARPU_TASK_DEPS_ARRAY, 2u, deps, STARPU_TASK_END_DEPS_ARRAY, 1u,
				 &end, 0);
	task->detach = 0;
	task->destroy = 0;
	submit(task);
	submit(deps[0]);
	submit(deps[1]);
	CHECK_IS(starpu_task_wait(deps[1]), 0);
	CHECK(!starpu_task_finished(task));
	submit(end);
	finish(task);
	CHECK(when[3] > when[0] && when[3] > when[1]);
	finish(deps[0]);
	finish(deps[1]);
	finish(end);
}

int main(void)
{
	core_start(3, NULL);
	diamond();
	completed();
	grid();
	fan();
	end_deps();
	end_calls();
	markers();
	starpu_shutdown();
	return 0;
}
