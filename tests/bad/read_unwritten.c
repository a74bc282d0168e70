/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that reads data which nobody has written: stops, naming the data.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect "empty" is read but was never written
 */
#include "bad_test.h"

static struct starpu_codelet cl = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_R }, .name = "reader"
};

int main(void)
{
	starpu_data_handle_t h;

	start();
	starpu_variable_data_register(&h, -1, 0, sizeof(int));
	starpu_data_set_name(h, "empty");
	if (starpu_task_insert(&cl, STARPU_R, h, 0) == 0)
		starpu_task_wait_for_all();
	return 0;
}
