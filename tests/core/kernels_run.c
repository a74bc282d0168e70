/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that checks its results learns whether kernels are executed.
 * orr-test: sim-args --kernels skip
 *
 * Invariant: orrery_kernels_run() says of a kernel what happens to it, with the setting of the run
 * and with STARPU_DISABLE_KERNELS.
 */
#include "core_test.h"
#include "orrery.h"

static int executed;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	executed = 1;
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "kernel" };
static struct starpu_codelet asks = { .cpu_funcs = { kernel },
				      .name = "asks",
				      .flags = STARPU_CODELET_SIMGRID_EXECUTE };

static int is_executed(struct starpu_codelet *codelet)
{
	executed = 0;
	CHECK_IS(starpu_task_insert(codelet, 0), 0);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	return executed;
}

int main(void)
{
	core_start(1, NULL);
	CHECK_IS(orrery_kernels_run(), is_executed(&cl));
	CHECK_IS(orrery_kernels_run(), !orrery_is_simulated());
	CHECK_IS(is_executed(&asks), 1);
	starpu_shutdown();

	setenv("STARPU_DISABLE_KERNELS", "1", 1);
	core_start(1, NULL);
	CHECK_IS(orrery_kernels_run(), 0);
	CHECK_IS(is_executed(&cl), 0);
	starpu_shutdown();
	return 0;
}
