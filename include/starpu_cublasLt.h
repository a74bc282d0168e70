/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Life of the cuBLASLt library on the CUDA workers.
 *
 * Invariant: callable in every build; without such workers these do nothing, so programs need no
 * condition.
 */
#ifndef STARPU_CUBLASLT_H
#define STARPU_CUBLASLT_H

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Start the library on every CUDA worker and wait for that; stop it. From the main thread, between
 * starpu_init() and starpu_shutdown(). */
void starpu_cublasLt_init(void);
void starpu_cublasLt_shutdown(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
