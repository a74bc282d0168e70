/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A slave is lost while it executes a kernel.
 * orr-test: env STARPU_NMPI_MS=1
 * orr-test: world real
 * orr-test: expect rank 1 on .* was lost */
#include "bad_test.h"

void end_process(void **buffers, void *arg);

void end_process(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	abort();
}

static struct starpu_codelet cl = { .cpu_funcs = { end_process },
				    .cpu_funcs_name = { "end_process" },
				    .name = "end_process" };

int main(void)
{
	if (starpu_init(NULL))
		return 0;
	if (starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER,
			       starpu_worker_get_by_type(STARPU_MPI_MS_WORKER, 0), 0))
		return 0;
	starpu_task_wait_for_all();
	starpu_shutdown();
	return 0;
}
