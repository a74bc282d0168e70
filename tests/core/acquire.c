/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Acquire and release by the program, in all forms, one thread and several.
 *
 * Invariant: between acquire and release nobody else changes the value (nor, when it is acquired
 * for writing, reads it). */
#include "core_test.h"

#include <errno.h>

static void add_kernel(void *buffers[], void *arg)
{
	(void) arg;
	++*core_int(buffers[0]);
}

static struct starpu_codelet add = { .cpu_funcs = { add_kernel },
				     .nbuffers = 1,
				     .modes = { STARPU_RW } };
static int x;
static starpu_data_handle_t h;

static void submit(int n)
{
	while (n-- > 0)
		CHECK_IS(starpu_task_insert(&add, STARPU_RW, h, 0), 0);
}

static void blocking(void)
{
	x = 0;
	submit(10);
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	CHECK_IS(x, 10);
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0); /* readers share */
	submit(5);
	CHECK_IS(x, 10);
	starpu_data_release(h);
	CHECK_IS(x, 10);
	starpu_data_release(h);
	CHECK_IS(starpu_data_acquire_on_node(h, STARPU_MAIN_RAM, STARPU_RW), 0);
	CHECK_IS(x, 15);
	x = 100;
	starpu_data_release_on_node(h, STARPU_MAIN_RAM);
	submit(1);
	CHECK_IS(starpu_data_acquire(h, STARPU_W), 0);
	x = 7;
	starpu_data_release(h);
	for (int i = 0; i < 100; i++) {
		submit(1);
		CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
		CHECK_IS(x, 8 + i);
		starpu_data_release(h);
	}
	CHECK_IS(starpu_data_acquire(h, STARPU_SCRATCH), -EINVAL);
	CHECK_IS(starpu_data_acquire_on_node(h, 57, STARPU_R), -EINVAL);
}

/* Ordering without fetching. */
static void no_node(void)
{
	x = 0;
	submit(3);
	CHECK_IS(starpu_data_acquire_on_node(h, STARPU_ACQUIRE_NO_NODE, STARPU_RW), 0);
	starpu_data_release_on_node(h, STARPU_ACQUIRE_NO_NODE);
	CHECK_IS(starpu_data_acquire_on_node(h, STARPU_ACQUIRE_NO_NODE_LOCK_ALL, STARPU_R), 0);
	CHECK_IS(x, 3);
	starpu_data_release_on_node(h, STARPU_ACQUIRE_NO_NODE_LOCK_ALL);
}

/* From W to R to nothing. */
static void release_to(void)
{
	static struct starpu_codelet look = { .cpu_funcs = { core_count_kernel },
					      .nbuffers = 1,
					      .modes = { STARPU_R } };
	struct starpu_task *task;
	int n = 0;

	CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
	task = starpu_task_build(&look, STARPU_R, h, STARPU_CL_ARGS_NFREE, &n, sizeof(n), 0);
	task->detach = 0;
	task->destroy = 0;
	CHECK_IS(starpu_task_submit(task), 0);
	submit(1);
	CHECK(!starpu_task_finished(task));
	x = 50;
	starpu_data_release_to(h, STARPU_R);
	CHECK_IS(starpu_task_wait(task), 0); /* readers may start, the writer may not */
	CHECK_IS(n, 1);
	CHECK_IS(x, 50);
	starpu_data_release(h);
	starpu_task_wait_for_all();
	CHECK_IS(x, 51);
	CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
	starpu_data_release_to_on_node(h, STARPU_NONE, STARPU_MAIN_RAM);
	submit(1);
	starpu_task_wait_for_all();
	CHECK_IS(x, 52);
	starpu_task_destroy(task);
}

static void try(void)
{
	x = 0;
	CHECK_IS(starpu_data_acquire_try(h, STARPU_RW), 0);
	CHECK_IS(starpu_data_acquire_try(h, STARPU_R), -EAGAIN);
	CHECK_IS(starpu_data_acquire_on_node_try(h, STARPU_MAIN_RAM, STARPU_RW), -EAGAIN);
	submit(1);
	starpu_data_release(h);
	starpu_task_wait_for_all();
	CHECK_IS(starpu_data_acquire_try(h, STARPU_R), 0);
	CHECK_IS(starpu_data_acquire_try(h, STARPU_R), 0);
	CHECK_IS(x, 1);
	starpu_data_release(h);
	starpu_data_release(h);
}

static int called;

static void callback(void *arg)
{
	CHECK(arg == &called);
	CHECK_IS(x, 5 + called);
	x++;
	called++;
	starpu_data_release(h);
}

static void callbacks(void)
{
	x = 0;
	submit(5);
	CHECK_IS(starpu_data_acquire_cb(h, STARPU_RW, callback, &called), 0);
	CHECK_IS(starpu_data_acquire_on_node_cb(h, STARPU_MAIN_RAM, STARPU_RW, callback, &called),
		 0);
	CHECK_IS(starpu_data_acquire_cb_sequential_consistency(h, STARPU_RW, callback, &called, 1),
		 0);
	CHECK_IS(starpu_data_acquire_on_node_cb_sequential_consistency(
			 h, STARPU_MAIN_RAM, STARPU_RW, callback, &called, 1),
		 0);
	submit(1);
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	CHECK_IS(called, 4);
	CHECK_IS(x, 10);
	starpu_data_release(h);
	/* Nothing before it: called at once, or soon. */
	x = 9;
	CHECK_IS(starpu_data_acquire_cb(h, STARPU_RW, callback, &called), 0);
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	CHECK_IS(called, 5);
	starpu_data_release(h);
}

/* A task may not wait for data, but may ask for a callback. */
static int dead, later;

static void later_cb(void *arg)
{
	INCR(later);
	starpu_data_release(arg);
}

static void in_task(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	dead = starpu_data_acquire(h, STARPU_R);
	CHECK_IS(starpu_data_acquire_cb(h, STARPU_R, later_cb, h), 0);
}

static void inside(void)
{
	static struct starpu_codelet cl = { .cpu_funcs = { in_task } };

	CHECK_IS(starpu_task_insert(&cl, STARPU_TASK_SYNCHRONOUS, 1, 0), 0);
	CHECK_IS(dead, -EDEADLK);
	CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
	CHECK_IS(later, 1);
	starpu_data_release(h);
}

/* Several threads of the program and tasks take turns. */
static void *one_thread(void *arg)
{
	int seen;

	(void) arg;
	for (int i = 0; i < 100; i++) {
		CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
		seen = x;
		x = -1;
		x = seen + 1;
		starpu_data_release(h);
		submit(1);
		CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
		CHECK(x > seen);
		starpu_data_release(h);
	}
	return NULL;
}

static void threads(void)
{
	starpu_pthread_t t[4];

	x = 0;
	for (int i = 0; i < 4; i++)
		STARPU_PTHREAD_CREATE(&t[i], NULL, one_thread, NULL);
	for (int i = 0; i < 4; i++)
		STARPU_PTHREAD_JOIN(t[i], NULL);
	starpu_task_wait_for_all();
	CHECK_IS(x, 800);
}

int main(void)
{
	core_start(2, NULL);
	h = core_register(&x);
	blocking();
	no_node();
	release_to();
	try();
	callbacks();
	inside();
	threads();
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
