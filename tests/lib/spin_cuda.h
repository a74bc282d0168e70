/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spin_cuda.cu, which a program is linked with where nvcc is there. Each function gives a stream
 * something, or makes one, and returns an error of CUDA.
 *
 * Invariant: elsewhere the functions are NULL, and spin_has_cuda() says no. */
#ifndef TESTS_LIB_SPIN_CUDA_H
#define TESTS_LIB_SPIN_CUDA_H

#include <starpu.h>
#include <stdlib.h>

int spin_cuda_launch(float *v, unsigned rounds, void *stream) __attribute__((weak));
int spin_cuda_call(void (*f)(void *), void *arg, void *stream) __attribute__((weak));
int spin_cuda_wait(void *stream) __attribute__((weak));
int spin_cuda_streams(void **stream) __attribute__((weak));

/* Are there CUDA workers that are no fake ones, and kernels for them? */
static inline int spin_has_cuda(void)
{
	const char *fake = getenv("ORRERY_FAKE_DEVICES");

	return spin_cuda_launch && starpu_cuda_worker_get_count() && !(fake && atoi(fake));
}

#endif
