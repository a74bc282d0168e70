/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The handles of cuBLAS, as the stub of the CUDA runtime has them (../cudart.h). */
#ifndef CUBLAS_V2_H
#define CUBLAS_V2_H

#include <cuda_runtime_api.h>

typedef struct stub_handle *cublasHandle_t;

#pragma GCC visibility push(default)
int cublasCreate_v2(cublasHandle_t *handle);
int cublasDestroy_v2(cublasHandle_t handle);
int cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
#pragma GCC visibility pop

#endif
