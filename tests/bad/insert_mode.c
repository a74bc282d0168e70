/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An insertion whose mode is not the codelet's: -EINVAL naming both.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task reader: datum 0 is inserted with access mode STARPU_W, its codelet declares STARPU_R
 */
#include "bad_test.h"

static struct starpu_codelet cl = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_R }, .name = "reader"
};

int main(void)
{
	starpu_data_handle_t h;
	int x = 0, ret;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	ret = starpu_task_insert(&cl, STARPU_W, h, 0);
	starpu_data_unregister(h);
	refused(ret, -EINVAL);
}
