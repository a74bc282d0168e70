/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A debug build of either world notices a lock that is taken against its order: here one that the
 * calling thread holds already, which hangs other builds.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect assertion failed: .*bundle.c:[0-9]+: sum: lock order: BUNDLE is taken by the thread that holds it since .*bundle.c
 */
#include "debug_bundle.h"

static double asks_again(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	return starpu_task_bundle_expected_length(bundle, arch, nimpl);
}

int main(void)
{
	return ask(asks_again);
}
