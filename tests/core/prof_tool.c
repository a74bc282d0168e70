/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs kernels, and copies a datum to each memory node and back; the script of the same name builds
 * a profiling tool and names it. */
#include "core_test.h"

#define NTASKS 50

static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel } };

int main(void)
{
	struct starpu_conf conf;
	static int ran, x[1000];
	starpu_data_handle_t h;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 2;
	if (starpu_init(&conf))
		return 3;
	printf("kernel %p\n", (void *) (uintptr_t) core_count_kernel);
	for (int i = 0; i < NTASKS; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0), 0);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	CHECK_IS(ran, NTASKS);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) x, 1000, sizeof(x[0]));
	for (unsigned node = 1; node < starpu_memory_nodes_get_count(); node++) {
		CHECK_IS(starpu_data_acquire_on_node(h, (int) node, STARPU_R), 0);
		starpu_data_release_on_node(h, (int) node);
	}
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
