/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Helpers for CUDA kernels and data interfaces; empty unless the library was built with CUDA's
 * toolkit.
 *
 * Invariant: called by a CUDA worker, from kernels or copy methods, unless said otherwise.
 */
#ifndef STARPU_CUDA_H
#define STARPU_CUDA_H

#include <starpu_config.h>

/* ORR_CUDA_TYPES: the includer has the types, as the library has that is built without the toolkit.
 */
#if defined(STARPU_USE_CUDA) || defined(ORR_CUDA_TYPES)
#include <stddef.h>
#ifdef STARPU_USE_CUDA
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#endif
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Print the text of an error with its place, and abort. */
void starpu_cuda_report_error(const char *func, const char *file, int line, cudaError_t status);
void starpu_cublas_report_error(const char *func, const char *file, int line, int status);
#define STARPU_CUDA_REPORT_ERROR(status) \
	starpu_cuda_report_error(__starpu_func__, __FILE__, __LINE__, (status))
#define STARPU_CUBLAS_REPORT_ERROR(status) \
	starpu_cublas_report_error(__starpu_func__, __FILE__, __LINE__, (int) (status))

/* The stream that the worker's kernels use. */
cudaStream_t starpu_cuda_get_local_stream(void);
/* Properties of the worker's device; owned by the runtime. Any thread. */
const struct cudaDeviceProp *starpu_cuda_get_device_properties(unsigned workerid);
/* Make the calling thread use that device. Any thread. */
void starpu_cuda_set_device(unsigned devid);

/* Copy, asynchronously in the stream if it is possible: then -EAGAIN, and the caller waits for the
 * stream; else the copy is done and 0 is returned. 2d: numblocks blocks whose starts are ld bytes
 * apart; 3d likewise. */
int starpu_cuda_copy_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr, unsigned dst_node,
				size_t ssize, cudaStream_t stream, enum cudaMemcpyKind kind);
int starpu_cuda_copy2d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks,
				  size_t ld_src, size_t ld_dst, cudaStream_t stream,
				  enum cudaMemcpyKind kind);
int starpu_cuda_copy3d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks_1,
				  size_t ld1_src, size_t ld1_dst, size_t numblocks_2,
				  size_t ld2_src, size_t ld2_dst, cudaStream_t stream,
				  enum cudaMemcpyKind kind);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
#endif
