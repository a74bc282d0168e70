/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_NCPU=2 STARPU_WORKERS_NOBIND=1
 * starpu_init by several threads at once: one starts the runtime, the others wait and are counted.
 * Threads that start and stop it all the time never see a runtime that is not up in between. One of
 * two threads that are in starpu_shutdown at the same time stops the runtime, the other waits.
 *
 * Invariant: each thread calls starpu_shutdown as often as starpu_init. */
#include <pthread.h>
#include <starpu.h>
#include <time.h>

#include "lib/test.h"

enum { NTHREADS = 5, ROUNDS = 30 };

static void add_one(void *buffers[], void *arg)
{
	(void) buffers;
	__atomic_add_fetch((int *) arg, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet cl = { .cpu_funcs = { add_one } };

static void *start_only(void *arg)
{
	CHECK_IS(starpu_init(NULL), 0);
	CHECK(starpu_is_initialized());
	CHECK_IS(starpu_worker_get_count(), 2);
	return arg;
}

static void *start_and_stop(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		int n = 0;
		struct starpu_task *task;

		CHECK_IS(starpu_init(NULL), 0);
		CHECK(starpu_is_initialized());
		task = starpu_task_create();
		task->cl = &cl;
		task->cl_arg = &n;
		task->synchronous = 1;
		CHECK_IS(starpu_task_submit(task), 0);
		CHECK_IS(n, 1);
		starpu_shutdown();
	}
	return arg;
}

static void sleep_us(unsigned us)
{
	struct timespec t = { .tv_nsec = us * 1000L };

	nanosleep(&t, NULL);
}

static void work(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	sleep_us(20000);
}

static struct starpu_codelet slow = { .cpu_funcs = { work } };

/* The task is under way when the thread calls starpu_shutdown; so the others come meanwhile. */
static void *stop_together(void *arg)
{
	struct starpu_task *task;

	CHECK_IS(starpu_init(NULL), 0);
	task = starpu_task_create();
	task->cl = &slow;
	CHECK_IS(starpu_task_submit(task), 0);
	sleep_us(5000);
	starpu_shutdown();
	for (int i = 0; i < 3; i++) {
		CHECK_IS(starpu_init(NULL), 0);
		starpu_shutdown();
	}
	return arg;
}

static void all(void *(*f)(void *) )
{
	pthread_t t[NTHREADS];

	for (int i = 0; i < NTHREADS; i++)
		CHECK_IS(pthread_create(&t[i], NULL, f, NULL), 0);
	for (int i = 0; i < NTHREADS; i++)
		CHECK_IS(pthread_join(t[i], NULL), 0);
}

int main(void)
{
	all(start_only);
	for (int i = 0; i < NTHREADS; i++) {
		CHECK(starpu_is_initialized());
		starpu_shutdown();
	}
	CHECK(!starpu_is_initialized());
	all(start_and_stop);
	CHECK(!starpu_is_initialized());
	for (int i = 0; i < 10; i++) {
		all(stop_together);
		CHECK(!starpu_is_initialized());
	}
	return 0;
}
