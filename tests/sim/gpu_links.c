/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arrivals of copies from main memory on the GPUs of a node, for gpu_links.sh, which describes
 * the machine. Arguments: GPU BYTES of each copy; all are asked for at once, each GPU gets its own
 * in this order. Prints when each is there, in microseconds.
 *
 * Invariant: kernels and allocations take no time, so that a kernel starts when its datum is there.
 */
#include <starpu.h>
#include "lib/test.h"

#define MOST 256

static double there_us[MOST], start_us;

static void look(void *buffers[], void *arg)
{
	(void) buffers;
	there_us[*(int *) arg] = starpu_timing_now();
}

static double none(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) t;
	(void) arch;
	(void) nimpl;
	return 0;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH, .arch_cost_function = none };
static struct starpu_codelet look_cl = { .cpu_funcs = { look },
					 .cuda_funcs = { look },
					 .nbuffers = 1,
					 .modes = { STARPU_R },
					 .model = &model,
					 .name = "look" };

int main(int argc, char **argv)
{
	static starpu_data_handle_t handles[MOST];
	static int number[MOST];
	int gpus[16], n = 0;
	if (test_skips(starpu_init(NULL)))
		return 77;
	int ngpus = starpu_worker_get_ids_by_type(STARPU_CUDA_WORKER, gpus, 16);
	for (; 2 * n + 2 < argc && n < MOST; n++) {
		size_t bytes = strtoul(argv[2 * n + 2], NULL, 0);
		CHECK(atoi(argv[2 * n + 1]) < ngpus, "there are %d GPUs", ngpus);
		starpu_vector_data_register(&handles[n], STARPU_MAIN_RAM, (uintptr_t) malloc(bytes),
					    (uint32_t) bytes, 1);
	}
	start_us = starpu_timing_now();
	for (int i = 0; i < n; i++)
		starpu_data_prefetch_on_node(
			handles[i],
			starpu_worker_get_memory_node((unsigned) gpus[atoi(argv[2 * i + 1])]), 1);
	for (int i = 0; i < n; i++) {
		number[i] = i;
		CHECK(starpu_task_insert(&look_cl, STARPU_R, handles[i], STARPU_EXECUTE_ON_WORKER,
					 gpus[atoi(argv[2 * i + 1])], STARPU_CL_ARGS_NFREE,
					 &number[i], sizeof(number[i]), 0) == 0,
		      "a task was refused");
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < n; i++)
		printf("copy %d %.3f\n", i, there_us[i] - start_us);
	for (int i = 0; i < n; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	return 0;
}
