/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unregistering data with a plan ends with a message that says what is missing.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect "planned" has a plan of 3 pieces: call starpu_data_partition_clean
 */
#include "bad_test.h"

static float v[12];

int main(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 3 };
	starpu_data_handle_t h, c[3];

	start();
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 12, sizeof(*v));
	starpu_data_set_name(h, "planned");
	starpu_data_partition_plan(h, &f, c);
	starpu_data_unregister(h);
	return 0;
}
