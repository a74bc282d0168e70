/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unregistering a data that is partitioned ends with a message that says what is missing.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect is partitioned into 3 pieces: call starpu_data_unpartition */
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
	starpu_data_unregister(h);
	return 0;
}
