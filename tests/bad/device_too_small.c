/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task whose data do not fit in its device together, nothing else being there to evict: stops,
 * with sizes and the remedy.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_LIMIT_CUDA_MEM=1
 * orr-test: expect task wide
 * orr-test: expect of 1048576
 */
#include "bad_test.h"

#define N (600 << 10)

static struct starpu_codelet cl = {
	.cuda_funcs = { nothing }, .nbuffers = 2, .modes = { STARPU_R, STARPU_RW }, .name = "wide"
};
static char a[N], b[N];

int main(void)
{
	starpu_data_handle_t ha, hb;

	start();
	starpu_vector_data_register(&ha, STARPU_MAIN_RAM, (uintptr_t) a, N, 1);
	starpu_vector_data_register(&hb, STARPU_MAIN_RAM, (uintptr_t) b, N, 1);
	if (starpu_task_insert(&cl, STARPU_R, ha, STARPU_RW, hb, 0) == 0)
		starpu_task_wait_for_all();
	return 0;
}
