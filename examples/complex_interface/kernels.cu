/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel of complex.c for CUDA devices: each thread squares one number.
 *
 * Invariant: pieces have pointers of their own.
 */
#include "complex_interface.h"

#include "../cuda_kernels.h"

static __global__ void square(double *re, double *im, int n, int value)
{
	int i = (int) (blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n) {
		double x = re[i] * re[i] - im[i] * im[i] + value;

		im[i] = 2 * re[i] * im[i];
		re[i] = x;
	}
}

extern "C" void square_cuda(void *buffers[], void *arg)
{
	int n = COMPLEX_GET_NX(buffers[0]), value;

	starpu_codelet_unpack_args(arg, &value);
	square<<<CUDA_GRID(n)>>>(COMPLEX_GET_REAL(buffers[0]), COMPLEX_GET_IMAGINARY(buffers[0]), n,
				 value);
	cuda_launched();
}
