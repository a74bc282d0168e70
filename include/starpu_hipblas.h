/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Life of the hipBLAS library on the HIP workers.
 *
 * Invariant: callable in every build; without such workers these do nothing, so programs need no
 * condition.
 */
#ifndef STARPU_HIPBLAS_H
#define STARPU_HIPBLAS_H

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Start the library on every HIP worker and wait for that; stop it. From the main thread, between
 * starpu_init() and starpu_shutdown(). */
void starpu_hipblas_init(void);
void starpu_hipblas_shutdown(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
