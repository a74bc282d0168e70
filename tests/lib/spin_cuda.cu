/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of spin.h that needs CUDA, for programs that are linked with it where nvcc is there.
 *
 * Invariant: functions give work to a stream and do not wait for it. */
#include <cuda_runtime.h>

static __global__ void spin(float *v, unsigned rounds)
{
	unsigned x = 1;

	/* Each round depends on the one before, so that no compiler shortens the loop. */
	for (unsigned i = 0; i < rounds; i++)
		x = x * 1664525u + (x >> 16) + 1013904223u;
	v[0] += x == 0 ? 2 : 1;
}

extern "C" int spin_cuda_launch(float *v, unsigned rounds, void *stream)
{
	spin<<<1, 1, 0, (cudaStream_t) stream>>>(v, rounds);
	return cudaGetLastError();
}

extern "C" int spin_cuda_call(void (*f)(void *), void *arg, void *stream)
{
	return cudaLaunchHostFunc((cudaStream_t) stream, f, arg);
}

extern "C" int spin_cuda_wait(void *stream)
{
	return cudaStreamSynchronize((cudaStream_t) stream);
}

extern "C" int spin_cuda_streams(void **stream)
{
	return cudaStreamCreateWithFlags((cudaStream_t *) stream, cudaStreamNonBlocking);
}
