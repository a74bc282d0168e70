/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of hardware.cu (nvcc) for hardware.c (C): each gives a kernel to a stream. */
#ifndef TESTS_CUDA_HARDWARE_H
#define TESTS_CUDA_HARDWARE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* v[i] = v[i] * by + plus, n elements. */
void gpu_scale_add(float *v, size_t n, float by, float plus, cudaStream_t stream);

/* Adds x + 1000 y + 1000000 z to each element (x, y, z); leading dimensions in elements. */
void gpu_number(float *v, unsigned nx, unsigned ny, unsigned nz, unsigned ldy, unsigned ldz,
		cudaStream_t stream);

/* Keeps one thread of the GPU busy for so many cycles. */
void gpu_spin(long long clocks, cudaStream_t stream);

/* Writes to an address that is nobody's. */
void gpu_fault(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
