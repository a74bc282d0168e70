/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The types of CUDA and its libraries as the C ABI sees them, where the toolkit was not found: the
 * public headers declare their functions with them. To be included first.
 *
 * Invariant: none of them is looked into. */
#ifndef ORR_DRIVERS_CUDA_TYPES_H
#define ORR_DRIVERS_CUDA_TYPES_H

#include <starpu_config.h>

#ifndef STARPU_USE_CUDA
typedef int cudaError_t;
typedef void *cudaStream_t, *cublasHandle_t, *cusparseHandle_t, *cusolverDnHandle_t;
enum cudaMemcpyKind { FIRST_KIND };
struct cudaDeviceProp;
#define ORR_CUDA_TYPES
#endif

#endif
