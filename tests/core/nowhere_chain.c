/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: timeout 120 */
/* Chains of a million tasks that execute nowhere, each of which ends inside of the end of its
 * predecessor: a gate releases the whole chain at once, or a callback submits the next task.
 *
 * Invariant: tasks end in the order of their chain, on a stack and in a memory that do not grow
 * with the length of the chain, and in a time that grows no faster than it. */
#include "core_test.h"

#include <string.h>
#include <sys/resource.h>

/* Callbacks may begin so many bytes below the frame of the test; one step of a chain takes some
 * hundreds of bytes. */
#define STACK_LIMIT (32 << 10)
/* Bytes that a submitted task may take, with its tag, and those that a task that is over may leave
 * behind. */
#define TASK_LIMIT 2048
#define REST_LIMIT 16

static long n, ended, deepest;
static int bounded; /* whether memory is checked: sanitizers keep what is freed */
static char *top;   /* frame of the function that releases the chain */

/* Runs after each task. */
static void count(void *arg)
{
	long depth = labs((long) (top - (char *) __builtin_frame_address(0)));

	if (depth > deepest)
		deepest = depth;
	CHECK_IS(ended, (long) arg);
	ended++;
}

static struct starpu_codelet alone_cl = { .where = STARPU_NOWHERE, .name = "alone" };
static struct starpu_codelet on_data_cl = {
	.where = STARPU_NOWHERE, .nbuffers = 1, .modes = { STARPU_RW }, .name = "on data"
};

static struct starpu_task *build(struct starpu_codelet *cl, long i)
{
	struct starpu_task *task = starpu_task_create();

	CHECK(task);
	task->cl = cl;
	task->callback_func = count;
	task->callback_arg = (void *) i;
	return task;
}

static void by_data(void)
{
	int x = 0;
	starpu_data_handle_t h = core_register(&x);

	CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
	for (long i = 0; i < n; i++) {
		struct starpu_task *task = build(&on_data_cl, i);

		task->handles[0] = h;
		CHECK_IS(starpu_task_submit(task), 0);
	}
	CHECK_IS(ended, 0);
	starpu_data_release(h);
	starpu_task_wait_for_all();
	starpu_data_unregister(h);
}

static void by_declaration(void)
{
	struct starpu_task *first = build(&alone_cl, 0), *last = first;

	for (long i = 1; i < n; i++) {
		struct starpu_task *task = build(&alone_cl, i);

		starpu_task_declare_deps_array(task, 1, &last);
		CHECK_IS(starpu_task_submit(task), 0);
		last = task;
	}
	CHECK_IS(ended, 0);
	CHECK_IS(starpu_task_submit(first), 0);
	starpu_task_wait_for_all();
}

static void by_tag(void)
{
	for (long i = 0; i < n; i++) {
		struct starpu_task *task = build(&alone_cl, i);

		task->use_tag = 1;
		task->tag_id = (starpu_tag_t) i + 1;
		starpu_tag_declare_deps((starpu_tag_t) i + 1, 1, (starpu_tag_t) i);
		CHECK_IS(starpu_task_submit(task), 0);
	}
	CHECK_IS(ended, 0);
	starpu_tag_notify_from_apps(0);
	starpu_task_wait_for_all();
	for (long i = 0; i <= n; i++)
		starpu_tag_remove((starpu_tag_t) i);
}

static void submit_next(void *arg)
{
	long i = (long) arg;

	count(arg);
	if (i + 1 < n) {
		struct starpu_task *task = build(&alone_cl, i + 1);

		task->callback_func = submit_next;
		CHECK_IS(starpu_task_submit(task), 0);
	}
}

static void by_callback(void)
{
	struct starpu_task *task = build(&alone_cl, 0);

	task->callback_func = submit_next;
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
}

static void run(const char *name, void (*shape)(void), long limit)
{
	struct rusage before, after;
	double t = starpu_timing_now();

	getrusage(RUSAGE_SELF, &before);
	top = __builtin_frame_address(0);
	ended = deepest = 0;
	shape();
	CHECK_IS(ended, n);
	getrusage(RUSAGE_SELF, &after);
	long bytes = (after.ru_maxrss - before.ru_maxrss) * 1024 / n;
	printf("%s: %.3f us, %ld bytes each; at most %ld bytes of stack\n", name,
	       (starpu_timing_now() - t) / n, bytes, deepest);
	CHECK(deepest <= STACK_LIMIT);
	CHECK(bytes <= limit || !bounded);
}

int main(void)
{
	const char *sanitizer = getenv("ORR_TEST_SANITIZER");

	/* A million tasks take 1 GB, and several times that with a sanitizer. */
	bounded = !sanitizer || !strcmp(sanitizer, "no");
	n = bounded ? 1000000 : 100000;
	core_start(1, NULL);
	run("by callback", by_callback, REST_LIMIT);
	run("by declaration", by_declaration, TASK_LIMIT);
	run("by data", by_data, TASK_LIMIT);
	run("by tag", by_tag, TASK_LIMIT);
	starpu_shutdown();
	return 0;
}
