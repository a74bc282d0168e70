/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The increment of the token ring for CUDA devices: one thread.
 *
 * Invariant: no other task has the token meanwhile.
 */
#include "../cuda_kernels.h"

static __global__ void increment(int *token)
{
	(*token)++;
}

extern "C" void increment_cuda(void *buffers[], void *)
{
	increment<<<1, 1, 0, starpu_cuda_get_local_stream()>>>(
		(int *) STARPU_VARIABLE_GET_PTR(buffers[0]));
	cuda_launched();
}
