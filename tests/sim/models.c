/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The virtual time of one kernel on a vector, for models.sh, which writes its model.
 * Argument: the bytes of the vector. */
#include <starpu.h>
#include "lib/test.h"

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "models" };
static struct starpu_codelet cl = { .cpu_funcs = { nothing },
				    .nbuffers = 1,
				    .modes = { STARPU_RW },
				    .model = &model,
				    .name = "models" };

int main(int argc, char **argv)
{
	starpu_data_handle_t h;
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000;
	if (test_skips(starpu_init(NULL)))
		return 77;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) calloc(1, bytes),
				    (uint32_t) bytes, 1);
	double start_us = starpu_timing_now();
	CHECK(starpu_task_insert(&cl, STARPU_RW, h, 0) == 0, "the task was refused");
	starpu_task_wait_for_all();
	printf("kernel %.6f us\n", starpu_timing_now() - start_us);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
