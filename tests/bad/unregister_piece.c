/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces belong to the data that they were cut from: unregistering one ends with a message.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect is a piece of vector datum */
#include "bad_test.h"

static float v[12];

int main(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 3 };
	starpu_data_handle_t h;

	if (bad_skips(starpu_init(NULL)))
		return 77;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 12, sizeof(*v));
	starpu_data_partition(h, &f);
	starpu_data_unregister(starpu_data_get_child(h, 1));
	return 0;
}
