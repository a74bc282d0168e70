/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A debug build of either world notices a thread that waits while it holds a lock.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect assertion failed: .*: orr_sys_sleep_us: no lock is held: BUNDLE \(_starpu_task_bundle.lock\) is held since .*bundle.c
 */
#include "debug_bundle.h"

static double sleeps(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	starpu_sleep(1e-3f);
	return 1;
}

int main(void)
{
	return ask(sleeps);
}
