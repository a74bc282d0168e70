/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two tags that wait for each other: the simulation stalls, and says what waits for what.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: world sim
 * orr-test: expect task snake .*1 dependencies missing
 * orr-test: expect tag 1
 * orr-test: expect tag 2
 */
#include "bad_test.h"

static struct starpu_codelet cl = { .cpu_funcs = { nothing }, .name = "snake" };

int main(void)
{
	start();
	starpu_tag_declare_deps(1, 1, (starpu_tag_t) 2);
	starpu_tag_declare_deps(2, 1, (starpu_tag_t) 1);
	if (starpu_task_insert(&cl, STARPU_TAG, (starpu_tag_t) 1, 0) ||
	    starpu_task_insert(&cl, STARPU_TAG, (starpu_tag_t) 2, 0))
		return 0;
	starpu_task_wait_for_all();
	return 0;
}
