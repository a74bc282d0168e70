/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel of vector_scal.c for CUDA devices, asynchronous like that of OpenCL.
 *
 * Invariant: pieces have pointers of their own.
 */
#include "../cuda_kernels.h"

static __global__ void scale(float *v, unsigned n, float by)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		v[i] *= by;
}

extern "C" void scale_cuda(void *buffers[], void *arg)
{
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);
	float factor;

	starpu_codelet_unpack_args(arg, &factor);
	scale<<<CUDA_GRID(n)>>>((float *) STARPU_VECTOR_GET_PTR(buffers[0]), n, factor);
	cuda_launched();
}
