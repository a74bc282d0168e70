/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that executes nowhere and wants its data on a memory node that does not exist: stops,
 * naming task and datum.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect codelet of task nowhere wants datum 0 on memory node 6, which does not exist
 */
#include "bad_test.h"

static struct starpu_codelet cl = { .where = STARPU_NOWHERE,
				    .nbuffers = 1,
				    .modes = { STARPU_R },
				    .specific_nodes = 1,
				    .nodes = { 6 },
				    .name = "nowhere" };

int main(void)
{
	starpu_data_handle_t h;
	int x = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	if (starpu_task_insert(&cl, STARPU_R, h, 0) == 0)
		starpu_task_wait_for_all();
	return 0;
}
