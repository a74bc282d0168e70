/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels of hardware.c for GPUs that are really there.
 *
 * Invariant: a function gives its kernel to a stream and does not wait for it. */
#include "hardware.h"

#define THREADS 128
#define GRID(n) (unsigned) (((n) + THREADS - 1) / THREADS), THREADS, 0

static __global__ void scale_add(float *v, size_t n, float by, float plus)
{
	size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		v[i] = v[i] * by + plus;
}

/* Element (x, y, z) of a block becomes x + 1000 y + 1000000 z more. */
static __global__ void number(float *v, unsigned nx, unsigned ny, unsigned nz, unsigned ldy,
			      unsigned ldz)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned x = i % nx, y = i / nx % ny, z = i / nx / ny;

	if (z < nz)
		v[(size_t) z * ldz + (size_t) y * ldy + x] +=
			(float) x + 1000.0f * (float) y + 1000000.0f * (float) z;
}

static __global__ void spin(long long clocks)
{
	long long start = clock64();

	while (clock64() - start < clocks)
		;
}

static __global__ void write_nowhere(float *v)
{
	v[0] = 1;
}

extern "C" {

void gpu_scale_add(float *v, size_t n, float by, float plus, cudaStream_t stream)
{
	scale_add<<<GRID(n), stream>>>(v, n, by, plus);
}

void gpu_number(float *v, unsigned nx, unsigned ny, unsigned nz, unsigned ldy, unsigned ldz,
		cudaStream_t stream)
{
	number<<<GRID(nx * ny * nz), stream>>>(v, nx, ny, nz, ldy, ldz);
}

void gpu_spin(long long clocks, cudaStream_t stream)
{
	spin<<<1, 1, 0, stream>>>(clocks);
}

void gpu_fault(cudaStream_t stream)
{
	write_nowhere<<<1, 1, 0, stream>>>((float *) 16);
}
}
