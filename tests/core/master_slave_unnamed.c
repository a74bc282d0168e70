/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that slaves cannot execute run on the master, and warnings name their codelets: one without
 * names, one whose function is not visible, and a task whose argument has no size. Its codelet is
 * executed by slaves otherwise. The master is not the first rank.
 *
 * orr-test: ranks 2
 * orr-test: sim-ranks 2
 * orr-test: run-args --master-slave
 * orr-test: sim-args --master-slave
 * orr-test: env STARPU_NCPU=1 STARPU_NMPIMSTHREADS=1 STARPU_MPI_MASTER_NODE=1
 * orr-test: expect codelet nameless has no cpu_funcs_name
 * orr-test: expect codelet hidden: slaves find no function hidden_kernel; .*-rdynamic
 */
#include <errno.h>

#include "core_test.h"

enum { N = 20 };

void visible_kernel(void **buffers, void *arg);

/* Adds 1 on the master and 100 on a slave. */
static int is_master;

void visible_kernel(void **buffers, void *arg)
{
	(void) arg;
	*core_int(buffers[0]) += is_master ? 1 : 100;
}

static void hidden_kernel(void **buffers, void *arg)
{
	visible_kernel(buffers, arg);
}

static struct starpu_codelet nameless_cl = { .cpu_funcs = { hidden_kernel },
					     .nbuffers = 1,
					     .modes = { STARPU_RW },
					     .name = "nameless" },
			     hidden_cl = { .cpu_funcs = { hidden_kernel },
					   .cpu_funcs_name = { "hidden_kernel" },
					   .nbuffers = 1,
					   .modes = { STARPU_RW },
					   .name = "hidden" },
			     visible_cl = { .cpu_funcs = { visible_kernel },
					    .cpu_funcs_name = { "visible_kernel" },
					    .nbuffers = 1,
					    .modes = { STARPU_RW },
					    .name = "visible" };

int main(void)
{
	int x = 0, unused = 0;
	starpu_data_handle_t h;

	OK(starpu_init(NULL));
	is_master = 1;
	h = core_register(&x);
	int slave = starpu_worker_get_by_type(STARPU_MPI_MS_WORKER, 0);

	CHECK(slave > 0);
	for (int i = 0; i < N; i++) {
		OK(starpu_task_insert(&nameless_cl, STARPU_RW, h, 0));
		OK(starpu_task_insert(&hidden_cl, STARPU_RW, h, 0));
		OK(starpu_task_insert(&visible_cl, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &unused,
				      (size_t) 0, 0));
	}
	/* No worker is left that could execute them. */
	CHECK_IS(starpu_task_insert(&hidden_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER, slave, 0),
		 -ENODEV);
	OK(starpu_task_insert(&visible_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER, slave, 0));
	starpu_data_unregister(h);
	CHECK_IS(x, 3 * N + 100);
	starpu_shutdown();
	return 0;
}
