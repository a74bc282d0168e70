/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A filter without children: stops, naming the data and the field.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect "whole": a filter with 0 children; set nchildren
 */
#include "bad_test.h"

static float v[12];

int main(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block };
	starpu_data_handle_t h;

	start();
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 12, sizeof(*v));
	starpu_data_set_name(h, "whole");
	starpu_data_partition(h, &f);
	return 0;
}
