/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Driven by model_doors.sh: measures a kernel, whose performance model is written in the end. */
#include <starpu.h>

#include "lib/test.h"

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "doors" };
static struct starpu_codelet cl = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .model = &model
};

int main(void)
{
	starpu_data_handle_t h;
	int v = 0, ret = starpu_init(NULL);

	if (ret == -ENODEV)
		return 77;
	CHECK_IS(ret, 0);
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &v, sizeof(v));
	for (int i = 0; i < 20; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_RW, h, 0), 0);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
