/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that submit tasks share the cores of their node, for threads.sh. Arguments: number of
 * threads, tasks of each. */
#include <pthread.h>
#include <starpu.h>
#include "lib/test.h"

static int ntasks;

static void *submit(void *arg)
{
	for (int i = 0; i < ntasks; i++) {
		struct starpu_task *t = starpu_task_create();
		t->cl = NULL;
		CHECK(starpu_task_submit(t) == 0, "a task was refused");
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int n = argc > 1 ? atoi(argv[1]) : 1;
	ntasks = argc > 2 ? atoi(argv[2]) : 1;
	CHECK(n <= 64, "at most 64 threads");
	if (test_skips(starpu_init(NULL)))
		return 77;
	double start_us = starpu_timing_now();
	if (!n)
		submit(NULL);
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&threads[i], NULL, submit, NULL) == 0, "no thread");
	for (int i = 0; i < n; i++)
		CHECK(pthread_join(threads[i], NULL) == 0, "no end of a thread");
	printf("submit %.3f us\n", starpu_timing_now() - start_us);
	starpu_task_wait_for_all();
	starpu_shutdown();
	return 0;
}
