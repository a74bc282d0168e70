/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Handles of CUBLAS on CUDA workers; empty unless the library was built with CUDA's toolkit.
 *
 * Invariant: each worker has a handle of its own, bound to its stream.
 */
#ifndef STARPU_CUBLAS_V2_H
#define STARPU_CUBLAS_V2_H

#include <starpu_config.h>

#if defined(STARPU_USE_CUDA) || defined(ORR_CUDA_TYPES)
#ifdef STARPU_USE_CUDA
#include <cublas_v2.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The handle of the calling worker, between starpu_cublas_init() and starpu_cublas_shutdown(); NULL
 * after a message if there is none. From CUDA kernels only; owned by the runtime. */
cublasHandle_t starpu_cublas_get_local_handle(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
#endif
