/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vendors' libraries of linear algebra on devices: programs start and stop them in every build.
 *
 * Invariant: without a driver for the vendor's devices there is nothing to start, so that these
 * calls do nothing, in both worlds. */
#include <starpu.h>
#include <starpu_cublas.h>
#include <starpu_cublasLt.h>
#include <starpu_cusolver.h>
#include <starpu_hipblas.h>

void starpu_cublas_init(void) {}
void starpu_cublas_shutdown(void) {}
void starpu_cublas_set_stream(void) {}
void starpu_cublasLt_init(void) {}
void starpu_cublasLt_shutdown(void) {}
void starpu_cusparse_init(void) {}
void starpu_cusparse_shutdown(void) {}
void starpu_cusolver_init(void) {}
void starpu_cusolver_shutdown(void) {}
void starpu_hipblas_init(void) {}
void starpu_hipblas_shutdown(void) {}
