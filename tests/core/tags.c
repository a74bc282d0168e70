/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tags: dependencies declared before tasks exist, waiting, events of the program, restart, removal, synchronisation tasks.
 *
 * Invariant: a task runs after all tags that its tag depends on. */
#include "core_test.h"

#define MAX 64

static int when[MAX], clock_now;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	when[(intptr_t) arg] = INCR(clock_now);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "tagged" };

static void submit(starpu_tag_t tag, int id)
{
	struct starpu_task *task = starpu_task_create();

	when[id] = 0;
	task->cl = &cl;
	task->cl_arg = (void *) (intptr_t) id;
	task->use_tag = 1;
	task->tag_id = tag;
	CHECK_IS(starpu_task_submit(task), 0);
}

/* Declared before any task exists; submitted in the wrong order. */
static void before(void)
{
	starpu_tag_t both[2] = { 0x100000002, 0x100000003 };

	starpu_tag_declare_deps(both[0], 1, (starpu_tag_t) 0x100000001);
	starpu_tag_declare_deps(both[1], 1, (starpu_tag_t) 0x100000001);
	starpu_tag_declare_deps_array(0x100000004, 2, both);
	submit(0x100000004, 4);
	submit(both[1], 3);
	submit(both[0], 2);
	CHECK(!LOAD(when[4]) && !LOAD(when[2]));
	CHECK(starpu_tag_get_task(both[0]) != NULL);
	submit(0x100000001, 1);
	CHECK_IS(starpu_tag_wait(0x100000004), 0);
	CHECK(when[1] < when[2] && when[1] < when[3] && when[2] < when[4] && when[3] < when[4]);
	CHECK_IS(starpu_tag_wait_array(2, both), 0);
	starpu_task_wait_for_all();
	CHECK(starpu_tag_get_task(both[0]) == NULL);
}

/* Declared after the predecessor completed: nothing to wait for. */
static void after(void)
{
	submit(10, 10);
	CHECK_IS(starpu_tag_wait(10), 0);
	starpu_tag_declare_deps(11, 1, (starpu_tag_t) 10);
	submit(11, 11);
	CHECK_IS(starpu_tag_wait(11), 0);
	CHECK(when[10] < when[11]);
	CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, (void *) 12, sizeof(int), STARPU_TAG, (starpu_tag_t) 12, 0), 0);
	CHECK_IS(starpu_tag_wait(12), 0);
	CHECK(when[12] > when[11]);
}

/* The program marks tags itself. */
static void events(void)
{
	int i;

	starpu_tag_declare_deps(21, 1, (starpu_tag_t) 20);
	submit(21, 21);
	CHECK(!LOAD(when[21]));
	starpu_tag_notify_from_apps(20);
	CHECK_IS(starpu_tag_wait(21), 0);
	CHECK(when[21]);
	starpu_tag_restart(20);
	starpu_tag_remove(21);
	for (i = 0; i < 3; i++) {
		starpu_tag_declare_deps(22, 1, (starpu_tag_t) 20);
		submit(22, 22);
		CHECK(!LOAD(when[22]));
		starpu_tag_notify_restart_from_apps(20);
		CHECK_IS(starpu_tag_wait(22), 0);
		CHECK(when[22]);
	}
	starpu_tag_remove(20);
	starpu_tag_remove(22);
	starpu_tag_remove(22);
	starpu_tag_remove(999);
}

static int called;

static void callback(void *arg) { CHECK(arg == &called); INCR(called); }

static void sync_tasks(void)
{
	starpu_tag_t deps[3] = { 30, 31, 32 };

	starpu_create_sync_task(33, 3, deps, callback, &called);
	starpu_create_sync_task(34, 1, (starpu_tag_t[]) { 33 }, NULL, NULL);
	submit(32, 32);
	submit(31, 31);
	CHECK_IS(LOAD(called), 0);
	submit(30, 30);
	CHECK_IS(starpu_tag_wait(34), 0);
	CHECK(when[30] && when[31] && when[32]);
	starpu_task_wait_for_all();
	CHECK_IS(called, 1);
}

/* A ring of stages that is run through several times, with the tags of one round used again in the next. */
static void rounds(void)
{
	int round, i;

	for (round = 0; round < 20; round++) {
		for (i = 41; i < 48; i++)
			starpu_tag_declare_deps((starpu_tag_t) i, 1, (starpu_tag_t) (i - 1));
		for (i = 47; i >= 40; i--)
			submit((starpu_tag_t) i, i);
		CHECK_IS(starpu_tag_wait(47), 0);
		for (i = 41; i < 48; i++)
			CHECK(when[i - 1] < when[i]);
		starpu_task_wait_for_all();
		for (i = 40; i < 48; i++)
			starpu_tag_restart((starpu_tag_t) i);
	}
}

/* Many tags, for the table that holds them. */
static void many(void)
{
	enum { N = 3000 };
	starpu_tag_t i;

	for (i = 1; i < N; i++)
		starpu_tag_declare_deps((i << 32) + 5, 1, (starpu_tag_t) (((i - 1) << 32) + 5));
	for (i = N; i-- > 0;)
		submit((i << 32) + 5, (int) (i % 8) + 50);
	CHECK_IS(starpu_tag_wait(((starpu_tag_t) (N - 1) << 32) + 5), 0);
	starpu_task_wait_for_all();
	for (i = 0; i < N; i++)
		starpu_tag_remove((i << 32) + 5);
}

int main(void)
{
	core_start(2, NULL);
	before();
	after();
	events();
	sync_tasks();
	rounds();
	many();
	starpu_shutdown();
	return 0;
}
