/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An insertion with too few data: -EINVAL naming both numbers.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task pair: 1 data are given, its codelet takes 2
 */
#include "bad_test.h"

static struct starpu_codelet cl = {
	.cpu_funcs = { nothing }, .nbuffers = 2, .modes = { STARPU_R, STARPU_R }, .name = "pair"
};

int main(void)
{
	starpu_data_handle_t h;
	int x = 0, ret;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	ret = starpu_task_insert(&cl, STARPU_R, h, 0);
	starpu_data_unregister(h);
	refused(ret, -EINVAL);
}
