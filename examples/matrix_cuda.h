/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernels of CUDA on square tiles of floats or doubles, for the factorisations: cuBLAS, cuSOLVER,
 * and one of our own. For files that nvcc compiles (.cu).
 *
 * Invariant: a function gives kernels to the stream of the calling worker and does not wait for
 * them; each worker has its own room for cuSOLVER, which only its stream uses.
 */
#ifndef EXAMPLES_MATRIX_CUDA_H
#define EXAMPLES_MATRIX_CUDA_H

#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

#include "cuda_kernels.h"

#define MATRIX_SINGLE(tile) (STARPU_MATRIX_GET_ELEMSIZE(tile) == sizeof(float))
#define MATRIX_ORDER(tile) ((int) STARPU_MATRIX_GET_NX(tile))
#define MATRIX_LD(tile) ((int) STARPU_MATRIX_GET_LD(tile))
#define MATRIX_FLOATS(tile) ((float *) STARPU_MATRIX_GET_PTR(tile))
#define MATRIX_DOUBLES(tile) ((double *) STARPU_MATRIX_GET_PTR(tile))

/* The work space of cuSOLVER and its report: in the memory of the worker's device. */
struct matrix_room {
	void *work;
	size_t bytes;
	int *info;
};

static struct matrix_room matrix_rooms[STARPU_NMAXWORKERS];

static inline void matrix_blas_check(cublasStatus_t status)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		STARPU_CUBLAS_REPORT_ERROR(status);
}

static inline void matrix_solver_check(cusolverStatus_t status)
{
	if (status != CUSOLVER_STATUS_SUCCESS)
		STARPU_CUBLAS_REPORT_ERROR(status);
}

static inline void matrix_cuda_end(void)
{
	for (unsigned i = 0; i < STARPU_NMAXWORKERS; i++) {
		cudaFree(matrix_rooms[i].work);
		cudaFree(matrix_rooms[i].info);
	}
	starpu_cusolver_shutdown();
	starpu_cublas_shutdown();
}

/* Room of at least so many bytes for the calling worker. */
static inline struct matrix_room *matrix_room(size_t bytes)
{
	struct matrix_room *r = &matrix_rooms[starpu_worker_get_id_check()];

	if (!r->info)
		cuda_check(cudaMalloc((void **) &r->info, sizeof(*r->info)));
	if (r->bytes < bytes) {
		cuda_check(cudaStreamSynchronize(starpu_cuda_get_local_stream()));
		cuda_check(cudaFree(r->work));
		cuda_check(cudaMalloc(&r->work, bytes));
		r->bytes = bytes;
	}
	return r;
}

/* Zeros above the diagonal of a tile. */
template <typename real> static __global__ void matrix_clear_upper(real *a, int b, int ld)
{
	int i = (int) (blockIdx.x * blockDim.x + threadIdx.x), j = (int) blockIdx.y;

	if (i < j && j < b)
		a[(size_t) j * ld + i] = 0;
}

template <typename real> static inline void matrix_clear(real *a, int b, int ld)
{
	matrix_clear_upper<<<CUDA_GRID_OF(b, b)>>>(a, b, ld);
	cuda_launched();
}

/* A tile becomes the lower factor of Cholesky, with zeros above it. */
static inline void matrix_potrf(void *A)
{
	cusolverDnHandle_t solver = starpu_cusolverDn_get_local_handle();
	const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
	int b = MATRIX_ORDER(A), ld = MATRIX_LD(A), n;
	struct matrix_room *r;

	if (MATRIX_SINGLE(A)) {
		float *a = MATRIX_FLOATS(A);

		matrix_solver_check(cusolverDnSpotrf_bufferSize(solver, lower, b, a, ld, &n));
		r = matrix_room((size_t) n * sizeof(float));
		matrix_solver_check(
			cusolverDnSpotrf(solver, lower, b, a, ld, (float *) r->work, n, r->info));
		matrix_clear(a, b, ld);
	} else {
		double *a = MATRIX_DOUBLES(A);

		matrix_solver_check(cusolverDnDpotrf_bufferSize(solver, lower, b, a, ld, &n));
		r = matrix_room((size_t) n * sizeof(double));
		matrix_solver_check(
			cusolverDnDpotrf(solver, lower, b, a, ld, (double *) r->work, n, r->info));
		matrix_clear(a, b, ld);
	}
}

/* A tile of doubles becomes its factors L and U, without exchange of rows. */
static inline void matrix_getrf(void *A)
{
	cusolverDnHandle_t solver = starpu_cusolverDn_get_local_handle();
	int b = MATRIX_ORDER(A), ld = MATRIX_LD(A), n;
	double *a = MATRIX_DOUBLES(A);

	matrix_solver_check(cusolverDnDgetrf_bufferSize(solver, b, b, a, ld, &n));
	struct matrix_room *r = matrix_room((size_t) n * sizeof(double));
	matrix_solver_check(
		cusolverDnDgetrf(solver, b, b, a, ld, (double *) r->work, NULL, r->info));
}

/* C -= A * B, or A * B^T. */
static inline void matrix_gemm(void *A, void *B, void *C, int transposed)
{
	cublasHandle_t blas = starpu_cublas_get_local_handle();
	const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
	int b = MATRIX_ORDER(A);

	if (MATRIX_SINGLE(A)) {
		const float minus = -1, one = 1;

		matrix_blas_check(cublasSgemm(blas, CUBLAS_OP_N, op, b, b, b, &minus,
					      MATRIX_FLOATS(A), MATRIX_LD(A), MATRIX_FLOATS(B),
					      MATRIX_LD(B), &one, MATRIX_FLOATS(C), MATRIX_LD(C)));
	} else {
		const double minus = -1, one = 1;

		matrix_blas_check(cublasDgemm(blas, CUBLAS_OP_N, op, b, b, b, &minus,
					      MATRIX_DOUBLES(A), MATRIX_LD(A), MATRIX_DOUBLES(B),
					      MATRIX_LD(B), &one, MATRIX_DOUBLES(C), MATRIX_LD(C)));
	}
}

/* The lower triangle of C -= A * A^T. */
static inline void matrix_syrk(void *A, void *C)
{
	cublasHandle_t blas = starpu_cublas_get_local_handle();
	const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
	int b = MATRIX_ORDER(A);

	if (MATRIX_SINGLE(A)) {
		const float minus = -1, one = 1;

		matrix_blas_check(cublasSsyrk(blas, lower, CUBLAS_OP_N, b, b, &minus,
					      MATRIX_FLOATS(A), MATRIX_LD(A), &one,
					      MATRIX_FLOATS(C), MATRIX_LD(C)));
	} else {
		const double minus = -1, one = 1;

		matrix_blas_check(cublasDsyrk(blas, lower, CUBLAS_OP_N, b, b, &minus,
					      MATRIX_DOUBLES(A), MATRIX_LD(A), &one,
					      MATRIX_DOUBLES(C), MATRIX_LD(C)));
	}
}

/* Solves with the triangle of T, in A. */
static inline void matrix_trsm(cublasSideMode_t side, cublasFillMode_t triangle,
			       cublasOperation_t op, cublasDiagType_t diagonal, void *T, void *A)
{
	cublasHandle_t blas = starpu_cublas_get_local_handle();
	int b = MATRIX_ORDER(A);

	if (MATRIX_SINGLE(A)) {
		const float one = 1;

		matrix_blas_check(cublasStrsm(blas, side, triangle, op, diagonal, b, b, &one,
					      MATRIX_FLOATS(T), MATRIX_LD(T), MATRIX_FLOATS(A),
					      MATRIX_LD(A)));
	} else {
		const double one = 1;

		matrix_blas_check(cublasDtrsm(blas, side, triangle, op, diagonal, b, b, &one,
					      MATRIX_DOUBLES(T), MATRIX_LD(T), MATRIX_DOUBLES(A),
					      MATRIX_LD(A)));
	}
}

/* Three tiles of that order on one device, and the kernels that are executed on them. */
struct matrix_warm_up {
	int b;
	size_t elemsize;
	void (*kernels)(void *tiles[]);
};

static inline void matrix_warm_up(void *arg)
{
	const struct matrix_warm_up *w = (const struct matrix_warm_up *) arg;
	size_t size = (size_t) w->b * w->b * w->elemsize;
	struct starpu_matrix_interface tile[3];
	void *tiles[3];
	char *memory;

	if (cudaMalloc((void **) &memory, 3 * size) != cudaSuccess) {
		cudaGetLastError();
		return; /* the first kernels take longer, then */
	}
	cuda_check(cudaMemsetAsync(memory, 0, 3 * size, starpu_cuda_get_local_stream()));
	for (int i = 0; i < 3; i++) {
		tile[i].ptr = (uintptr_t) (memory + i * size);
		tile[i].nx = tile[i].ny = tile[i].ld = (uint32_t) w->b;
		tile[i].elemsize = w->elemsize;
		tiles[i] = &tile[i];
	}
	w->kernels(tiles);
	cuda_check(cudaStreamSynchronize(starpu_cuda_get_local_stream()));
	cuda_check(cudaFree(memory));
}

/* Starts NVIDIA's libraries, and executes each kernel once for each device on tiles of that order:
 * they are loaded when they are first used, which takes 0.1 s, and which kernels depends on the
 * order. */
static inline void matrix_cuda_begin(int b, size_t elemsize, void (*kernels)(void *tiles[]))
{
	struct matrix_warm_up w = { b, elemsize, kernels };

	starpu_cublas_init();
	starpu_cusolver_init();
	starpu_execute_on_each_worker(matrix_warm_up, &w, STARPU_CUDA);
}

#endif /* EXAMPLES_MATRIX_CUDA_H */
