/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cuSOLVER on CUDA workers. Without CUDA support the calls exist and do
 * nothing, so that programs compile and run unchanged.
 *
 * Invariant: what each worker gets is its own; handles are never shared.
 */
#ifndef STARPU_CUSOLVER_H
#define STARPU_CUSOLVER_H

#include <starpu_config.h>

#ifdef STARPU_USE_CUDA
#include <cusolverDn.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Create / destroy a handle on each CUDA worker. Blocking; from the program's thread. */
void starpu_cusolver_init(void);
void starpu_cusolver_shutdown(void);

#if defined(STARPU_USE_CUDA) || defined(ORR_CUDA_TYPES)
/* Handle of the calling worker, bound to its stream; from CUDA kernels only. NULL after a message
 * if the library was not started there. Owned by the runtime. */
cusolverDnHandle_t starpu_cusolverDn_get_local_handle(void);
#endif

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
