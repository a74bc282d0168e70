/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tags: dependencies declared before tasks exist, waiting, events of the program, restart, removal,
 * synchronisation tasks.
 *
 * Invariant: a task runs after all tags that its tag depends on. */
#include "core_test.h"

#define MAX 64

static int when[MAX], clock_now;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	STORE(when[(intptr_t) arg], INCR(clock_now)); /* fan() gives a number to several tasks */
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
	CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, (void *) 12, sizeof(int), STARPU_TAG,
				    (starpu_tag_t) 12, 0),
		 0);
	CHECK_IS(starpu_tag_wait(12), 0);
	CHECK(when[12] > when[11]);
}

/* The program marks tags itself. */
static void events(void)
{
	starpu_tag_declare_deps(21, 1, (starpu_tag_t) 20);
	submit(21, 21);
	CHECK(!LOAD(when[21]));
	starpu_tag_notify_from_apps(20);
	CHECK_IS(starpu_tag_wait(21), 0);
	CHECK(when[21]);
	starpu_tag_restart(20);
	starpu_tag_remove(21);
	for (int i = 0; i < 3; i++) {
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

static void callback(void *arg)
{
	CHECK(arg == &called);
	INCR(called);
}

static void sync_tasks(void)
{
	starpu_tag_t deps[3] = { 30, 31, 32 };

	starpu_create_sync_task(33, 3, deps, callback, &called);
	starpu_create_sync_task(34, 1, (starpu_tag_t[]){ 33 }, NULL, NULL);
	submit(32, 32);
	submit(31, 31);
	CHECK_IS(LOAD(called), 0);
	submit(30, 30);
	CHECK_IS(starpu_tag_wait(34), 0);
	CHECK(when[30] && when[31] && when[32]);
	starpu_task_wait_for_all();
	CHECK_IS(called, 1);
}

/* A ring of stages that is run through several times, with the tags of one round used again in the
 * next. */
static void rounds(void)
{
	for (int round = 0; round < 20; round++) {
		for (int i = 41; i < 48; i++)
			starpu_tag_declare_deps((starpu_tag_t) i, 1, (starpu_tag_t) (i - 1));
		for (int i = 47; i >= 40; i--)
			submit((starpu_tag_t) i, i);
		CHECK_IS(starpu_tag_wait(47), 0);
		for (int i = 41; i < 48; i++)
			CHECK(when[i - 1] < when[i]);
		starpu_task_wait_for_all();
		for (int i = 40; i < 48; i++)
			starpu_tag_restart((starpu_tag_t) i);
	}
}

/* A ring of stages whose dependencies are declared once: restarted, in any order, they hold again.
 */
static void again(void)
{
	for (int i = 61; i < 64; i++)
		starpu_tag_declare_deps((starpu_tag_t) i, 1, (starpu_tag_t) (i - 1));
	for (int round = 0; round < 20; round++) {
		for (int i = 63; i >= 60; i--) {
			submit((starpu_tag_t) i, i);
			CHECK(i == 60 || !LOAD(when[i]));
		}
		CHECK_IS(starpu_tag_wait(63), 0);
		for (int i = 61; i < 64; i++)
			CHECK(when[i - 1] < when[i]);
		starpu_task_wait_for_all();
		for (int i = 60; i < 64; i++)
			starpu_tag_restart((starpu_tag_t) (round % 2 ? i : 123 - i));
	}
	/* Not restarted, 61 has completed: 62, which was, does not wait for it. */
	starpu_tag_notify_from_apps(60);
	submit(61, 61);
	CHECK_IS(starpu_tag_wait(61), 0);
	submit(62, 62);
	CHECK_IS(starpu_tag_wait(62), 0);
	starpu_task_wait_for_all();
	starpu_tag_restart(62);
	submit(62, 62);
	CHECK_IS(starpu_tag_wait(62), 0);
	/* A tag that has not completed: nothing to restart, and what it waits for has not been
	 * forgotten. */
	starpu_tag_declare_deps(63, 1, (starpu_tag_t) 69);
	submit(63, 63);
	starpu_tag_restart(63);
	CHECK(!LOAD(when[63]));
	starpu_tag_notify_from_apps(69);
	CHECK_IS(starpu_tag_wait(63), 0);
	starpu_task_wait_for_all();
	starpu_tag_remove(69);
	for (int i = 60; i < 64; i++)
		starpu_tag_remove((starpu_tag_t) i);
}

/* Tags without tasks: an event of the program is told to all that depend on it, each time it
 * happens. */
static void events_again(void)
{
	starpu_tag_declare_deps(72, 2, (starpu_tag_t) 70, (starpu_tag_t) 71);
	starpu_tag_declare_deps(73, 1, (starpu_tag_t) 72);
	for (int round = 0; round < 5; round++) {
		submit(73, 50);
		starpu_tag_notify_from_apps(70);
		CHECK(!LOAD(when[50]));
		starpu_tag_notify_from_apps(70); /* once more is not another one */
		CHECK(!LOAD(when[50]));
		starpu_tag_notify_restart_from_apps(71);
		CHECK_IS(starpu_tag_wait(72), 0);
		CHECK_IS(starpu_tag_wait(73), 0);
		starpu_task_wait_for_all();
		starpu_tag_restart(73);
		starpu_tag_restart(72);
		starpu_tag_restart(70);
	}
	/* What arrived in this round counts, also when it is restarted before the round is over. */
	submit(73, 50);
	starpu_tag_notify_restart_from_apps(70);
	CHECK(!LOAD(when[50]));
	starpu_tag_notify_restart_from_apps(71);
	CHECK_IS(starpu_tag_wait(73), 0);
	starpu_task_wait_for_all();
	starpu_tag_remove(70);
	starpu_tag_remove(71);
	starpu_tag_remove(72);
	starpu_tag_remove(73);
}

/* Somebody who waits for a tag sees it fire, even when it is restarted at once. */
static void *wait_tag(void *arg)
{
	CHECK_IS(starpu_tag_wait(80), 0);
	INCR(*(int *) arg);
	return NULL;
}

static void wait_and_restart(void)
{
	starpu_pthread_t t;
	int done = 0;

	STARPU_PTHREAD_CREATE(&t, NULL, wait_tag, &done);
	for (int tries = 0; tries < 100000 && !LOAD(done); tries++) {
		starpu_usleep(10);
		starpu_tag_notify_restart_from_apps(80);
	}
	CHECK(LOAD(done));
	STARPU_PTHREAD_JOIN(t, NULL);
	starpu_tag_remove(80);
}

/* Removing a tag takes its dependencies away: those that wait for it go on, and it waits for
 * nobody. */
static void removed(void)
{
	starpu_tag_declare_deps(91, 1, (starpu_tag_t) 90);
	starpu_tag_declare_deps(92, 1, (starpu_tag_t) 91);
	submit(92, 50);
	CHECK(!LOAD(when[50]));
	starpu_tag_remove(91);
	CHECK_IS(starpu_tag_wait(92), 0);
	submit(91, 51);
	CHECK_IS(starpu_tag_wait(91), 0);
	starpu_task_wait_for_all();
	starpu_tag_restart(92);
	submit(92, 50);
	CHECK_IS(starpu_tag_wait(92), 0);
	starpu_task_wait_for_all();
	starpu_tag_remove(92);
	starpu_tag_remove(91);
	starpu_tag_remove(90);
}

/* Many tags that all depend on one, which is restarted. */
static void fan(void)
{
	enum { N = 2000 };
	starpu_tag_t i;

	for (i = 1; i <= N; i++)
		starpu_tag_declare_deps(1000 + i, 1, (starpu_tag_t) 1000);
	for (int round = 0; round < 3; round++) {
		for (i = 1; i <= N; i++)
			submit(1000 + i, (int) (i % 8) + 50);
		CHECK(!LOAD(when[50]));
		starpu_tag_notify_from_apps(1000);
		for (i = 1; i <= N; i++)
			CHECK_IS(starpu_tag_wait(1000 + i), 0);
		starpu_task_wait_for_all();
		for (i = 0; i <= N; i++)
			starpu_tag_restart(1000 + i);
	}
	for (i = N + 1; i-- > 0;)
		starpu_tag_remove(1000 + i);
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
	again();
	events_again();
	wait_and_restart();
	removed();
	fan();
	many();
	starpu_shutdown();
	return 0;
}
