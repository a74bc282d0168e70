/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A codelet for GPUs only, with multiformat data, on the GPUs of a machine, where functions for the
 * CPU compute.
 *
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: world sim
 * orr-test: sim-args --machine h200x8
 * orr-test: expect task on_gpu has multiformat data and no function for the CPU */
#include "bad_test.h"

static struct starpu_codelet to_cuda_cl = {
	.cuda_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "to_cuda"
};
static struct starpu_codelet to_cpu_cl = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "to_cpu"
};
static struct starpu_multiformat_data_interface_ops formats = { .cpu_elemsize = 8,
								.cuda_elemsize = 8,
								.cpu_to_cuda_cl = &to_cuda_cl,
								.cuda_to_cpu_cl = &to_cpu_cl };
static struct starpu_codelet on_gpu = {
	.cuda_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "on_gpu"
};

int main(void)
{
	static double v[10];
	starpu_data_handle_t h;

	start();
	starpu_multiformat_data_register(&h, STARPU_MAIN_RAM, v, 10, &formats);
	if (starpu_task_insert(&on_gpu, STARPU_RW, h, 0))
		return 0;
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
