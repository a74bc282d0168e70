/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles of NVIDIA's libraries in the stub of the CUDA runtime (see cudart.h): they know their
 * kind, their device and their stream.
 *
 * Invariant: nhandles counts those that were created and not destroyed. */
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <stdlib.h>

#include "cudart_own.h"

enum { NOT_INITIALIZED = 1 };

static int nhandles;

static int create(struct stub_handle **handle, const char *kind)
{
	stub_lock();
	int fails = stub_fails("handle");

	nhandles += !fails;
	stub_unlock();
	if (fails)
		return NOT_INITIALIZED;
	*handle = malloc(sizeof(**handle));
	**handle = (struct stub_handle){ .kind = kind, .device = stub_current() };
	return 0;
}

static int destroy(struct stub_handle *handle)
{
	stub_lock();
	nhandles--;
	stub_unlock();
	free(handle);
	return 0;
}

static int set_stream(struct stub_handle *handle, cudaStream_t stream)
{
	handle->stream = stream;
	return 0;
}

int stub_nhandles(void)
{
	stub_lock();
	int n = nhandles;

	stub_unlock();
	return n;
}

#define LIBRARY(HANDLE, CREATE, DESTROY, SET_STREAM, KIND) \
	int CREATE(HANDLE *handle) \
	{ \
		return create(handle, KIND); \
	} \
	int DESTROY(HANDLE handle) \
	{ \
		return destroy(handle); \
	} \
	int SET_STREAM(HANDLE handle, cudaStream_t stream) \
	{ \
		return set_stream(handle, stream); \
	}

LIBRARY(cublasHandle_t, cublasCreate_v2, cublasDestroy_v2, cublasSetStream_v2, "blas")
LIBRARY(cusparseHandle_t, cusparseCreate, cusparseDestroy, cusparseSetStream, "sparse")
LIBRARY(cusolverDnHandle_t, cusolverDnCreate, cusolverDnDestroy, cusolverDnSetStream, "solver")
