/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The acquisition that a release means when one datum is acquired several times on one memory node.
 *
 * Invariant: a thread's release ends the acquisition that it waited for (inside a callback: the
 * callback's own), whatever others have; what a callback left acquired may be released from
 * anywhere. Were the wrong one ended, unregistration would refuse or come too early. */
#include "../core/core_test.h"

#include <errno.h>

static int x, granted, released;
static starpu_data_handle_t h;

static void keep(void *arg)
{
	(void) arg;
	INCR(granted);
}

static void give_back(void *arg)
{
	(void) arg;
	CHECK_IS(LOAD(x), 1);
	INCR(released);
	starpu_data_release(h);
}

static struct starpu_codelet nothing = { .cpu_funcs = { core_count_kernel } };

/* A task whose callback gives back what a callback left acquired. */
static void give_back_later(void)
{
	static int runs;

	CHECK_IS(starpu_task_insert(&nothing, STARPU_CL_ARGS_NFREE, &runs, sizeof(runs),
				    STARPU_CALLBACK, give_back, 0),
		 0);
}

/* The datum that a callback left is older than that which this thread waited for: its release must
 * not take it. */
static void older_callback(void)
{
	granted = released = 0;
	h = core_register(&x);
	CHECK_IS(starpu_data_acquire_cb(h, STARPU_R, keep, NULL), 0);
	CHECK_IS(granted, 1);
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	starpu_data_release(h);
	give_back_later();
	starpu_data_unregister(h); /* waits for the callback's */
	CHECK_IS(released, 1);
}

/* The other way round: the callback's release, in another thread, must not take what this
 * thread waited for. */
static void newer_callback(void)
{
	granted = released = 0;
	h = core_register(&x);
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	CHECK_IS(starpu_data_acquire_cb(h, STARPU_R, keep, NULL), 0);
	give_back_later();
	starpu_task_wait_for_all();
	CHECK_IS(released, 1);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

/* Inside its callback, a release means the callback's own, also in a thread that waited for
 * another. */
static void inside(void)
{
	released = 0;
	h = core_register(&x);
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	CHECK_IS(starpu_data_acquire_cb(h, STARPU_R, give_back, NULL), 0);
	CHECK_IS(released, 1);
	CHECK_IS(starpu_data_acquire_try(h, STARPU_RW),
		 -EAGAIN); /* this thread still has its own */
	starpu_data_release(h);
	CHECK_IS(starpu_data_acquire_try(h, STARPU_RW), 0);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

/* Each thread has a datum of its own to end, and all share one: were they to mix up their
 * acquisitions, an end would be refused. */
static starpu_data_handle_t shared;

static void *one_thread(void *arg)
{
	int mine = 1;

	(void) arg;
	for (int i = 0; i < 200; i++) {
		starpu_data_handle_t own;

		starpu_variable_data_register(&own, STARPU_MAIN_RAM, (uintptr_t) &mine,
					      sizeof(mine));
		CHECK_IS(starpu_data_acquire(own, STARPU_RW), 0);
		CHECK_IS(starpu_data_acquire(shared, STARPU_R), 0);
		starpu_data_release(shared);
		starpu_data_release(own);
		starpu_data_unregister(own);
	}
	return NULL;
}

static void release_shared(void *arg)
{
	INCR(*(int *) arg);
	starpu_data_release(shared);
}

static void threads(void)
{
	starpu_pthread_t t[4];
	int n = 0;

	shared = core_register(&x);
	for (int i = 0; i < 4; i++)
		STARPU_PTHREAD_CREATE(&t[i], NULL, one_thread, NULL);
	for (int i = 0; i < 200; i++)
		CHECK_IS(starpu_data_acquire_cb(shared, STARPU_R, release_shared, &n), 0);
	for (int i = 0; i < 4; i++)
		STARPU_PTHREAD_JOIN(t[i], NULL);
	CHECK_IS(n, 200);
	CHECK_IS(starpu_data_acquire_try(shared, STARPU_RW), 0);
	starpu_data_release(shared);
	starpu_data_unregister(shared);
}

int main(void)
{
	core_start(2, NULL);
	x = 1;
	for (int i = 0; i < 20; i++) {
		older_callback();
		newer_callback();
		inside();
	}
	threads();
	starpu_shutdown();
	return 0;
}
