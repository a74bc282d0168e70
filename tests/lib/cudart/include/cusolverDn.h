/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The handles of cuSOLVER, as the stub of the CUDA runtime has them (../cudart.h). */
#ifndef CUSOLVERDN_H
#define CUSOLVERDN_H

#include <cuda_runtime_api.h>

typedef struct stub_handle *cusolverDnHandle_t;

#pragma GCC visibility push(default)
int cusolverDnCreate(cusolverDnHandle_t *handle);
int cusolverDnDestroy(cusolverDnHandle_t handle);
int cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
#pragma GCC visibility pop

#endif
