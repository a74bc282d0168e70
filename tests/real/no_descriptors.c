/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that has used up its file descriptors computes on, and its runtime ends: a socket that
 * was shut down does not say so then.
 * orr-test: timeout 60 */
#include <starpu.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/test.h"

static int n;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	__atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel } };

int main(void)
{
	struct rlimit few = { 64, 64 };
	int last = -1, more;

	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	for (int round = 0; round < 3; round++) {
		if (starpu_init(NULL))
			return 77;
		while ((more = open("/dev/null", O_RDONLY)) >= 0)
			last = more;
		CHECK(last > 2);
		for (int i = 0; i < 10; i++)
			CHECK(starpu_task_insert(&cl, 0) == 0);
		CHECK(starpu_task_wait_for_all() == 0);
		starpu_shutdown();
		CHECK(n == 10 * (round + 1));
		/* Room for the next start. */
		for (int fd = 3; fd <= last; fd++)
			close(fd);
	}
	return 0;
}
