/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of what waits, which is cut off, begins with the task that runs and goes on with those
 * that were submitted first, although hundreds wait for them.
 * orr-test: ranks 0
 * orr-test: world real
 * orr-test: env STARPU_WATCHDOG_TIMEOUT=200000 STARPU_WATCHDOG_CRASH=1
 * orr-test: expect no task completed for 0.2 s
 * orr-test: expect task long .*running
 * orr-test: expect task second .*blocked, 1 dependencies missing
 * orr-test: expect and 152 more tasks
 */
#include "bad_test.h"

#include <unistd.h>

#define N 200

static void lasts(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	sleep(30);
}

static struct starpu_codelet slow = {
	.cpu_funcs = { lasts }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "long"
};
static struct starpu_codelet first = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "second"
};
static struct starpu_codelet others = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "other"
};

int main(void)
{
	starpu_data_handle_t h;
	int value = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	if (starpu_task_insert(&slow, STARPU_RW, h, 0) ||
	    starpu_task_insert(&first, STARPU_RW, h, 0))
		return 0;
	for (int i = 0; i < N; i++)
		if (starpu_task_insert(&others, STARPU_RW, h, 0))
			return 0;
	starpu_task_wait_for_all();
	starpu_data_unregister(h);
	return 0;
}
