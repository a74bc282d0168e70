/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The step of multiformat.c on CUDA devices, and the conversion that makes their layout there.
 *
 * Invariant: a kernel has one thread for each point.
 */
#include "../cuda_kernels.h"

/* On devices all the x come first, then all the y. */
static __global__ void step(float *x, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		x[i] += 2 * x[n + i];
		x[n + i] += 1;
	}
}

static __global__ void convert(float *x, const float2 *p, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		x[i] = p[i].x;
		x[n + i] = p[i].y;
	}
}

extern "C" void step_cuda(void *buffers[], void *)
{
	unsigned n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);

	step<<<CUDA_GRID(n)>>>((float *) STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]), n);
	cuda_launched();
}

/* The value from main memory lies on the device, next to the place for the result. */
extern "C" void convert_cuda(void *buffers[], void *)
{
	unsigned n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);

	convert<<<CUDA_GRID(n)>>>((float *) STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]),
				  (const float2 *) STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]), n);
	cuda_launched();
}
