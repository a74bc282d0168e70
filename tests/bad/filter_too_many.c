/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* More pieces than there are elements: stops, saying how many there can be.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect 12 elements of dimension 0 of this vector cannot be cut into 13 pieces; use at most 12
 */
#include "bad_test.h"

static float v[12];

int main(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block,
					.nchildren = 13 };
	starpu_data_handle_t h;

	start();
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 12, sizeof(*v));
	starpu_data_partition(h, &f);
	return 0;
}
