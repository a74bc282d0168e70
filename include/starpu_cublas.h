/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Life of the CUBLAS and CUSPARSE libraries on the CUDA workers.
 *
 * Invariant: callable in every build; without CUDA workers these do nothing, so programs need no
 * condition.
 */
#ifndef STARPU_CUBLAS_H
#define STARPU_CUBLAS_H

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Start the library on every CUDA worker and wait for that; stop it. From the main thread, between
 * starpu_init() and starpu_shutdown(). */
void starpu_cublas_init(void);
void starpu_cublas_shutdown(void);
void starpu_cusparse_init(void);
void starpu_cusparse_shutdown(void);
/* In a CUDA kernel: make CUBLAS calls that take no handle use the worker's stream. */
void starpu_cublas_set_stream(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
