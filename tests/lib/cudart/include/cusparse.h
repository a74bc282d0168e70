/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The handles of cuSPARSE, as the stub of the CUDA runtime has them (../cudart.h). */
#ifndef CUSPARSE_H
#define CUSPARSE_H

#include <cuda_runtime_api.h>

typedef struct stub_handle *cusparseHandle_t;

#pragma GCC visibility push(default)
int cusparseCreate(cusparseHandle_t *handle);
int cusparseDestroy(cusparseHandle_t handle);
int cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
#pragma GCC visibility pop

#endif
