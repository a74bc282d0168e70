/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The size of a piece cannot change (handbook 27.1): the end of the partition says which piece and
 * what to do.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect piece 1 of vector datum .* was resized */
#include "bad_test.h"

static float v[12];

static void shrink(void *buffers[], void *arg)
{
	(void) arg;
	STARPU_VECTOR_SET_NX(buffers[0], 2);
}

static struct starpu_codelet cl = {
	.cpu_funcs = { shrink }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "shrink"
};

int main(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 3 };
	starpu_data_handle_t h;

	if (bad_skips(starpu_init(NULL)))
		return 77;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 12, sizeof(*v));
	starpu_data_partition(h, &f);
	starpu_task_insert(&cl, STARPU_RW, starpu_data_get_child(h, 1), 0);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	return 0;
}
