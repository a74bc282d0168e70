/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Helpers of the functions in cuda_funcs, in files that nvcc compiles (.cu): they give one kernel
 * to the stream of the calling worker and return.
 *
 * Invariant: an error of CUDA ends the program with a message.
 */
#ifndef EXAMPLES_CUDA_KERNELS_H
#define EXAMPLES_CUDA_KERNELS_H

#include <starpu.h>

#define CUDA_THREADS 128

/* The configuration of a launch: n threads at least, times rows, in the worker's stream. */
#define CUDA_GRID_OF(n, rows) \
	dim3(((unsigned) (n) + CUDA_THREADS - 1) / CUDA_THREADS, (unsigned) (rows)), CUDA_THREADS, \
		0, starpu_cuda_get_local_stream()
#define CUDA_GRID(n) CUDA_GRID_OF(n, 1)

static inline void cuda_check(cudaError_t status)
{
	if (status != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(status);
}

/* Follows each launch. */
static inline void cuda_launched(void)
{
	cuda_check(cudaGetLastError());
}

#endif /* EXAMPLES_CUDA_KERNELS_H */
