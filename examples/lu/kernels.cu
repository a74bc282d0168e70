/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the LU example for CUDA devices. kernels.c names them where nvcc compiled this
 * file.
 *
 * Invariant: what they compute is what kernels.c says; a tile that needs an exchange of rows is
 * factored all the same, and --check finds what comes of that.
 */
#include "../matrix_cuda.h"

extern "C" {

static void each(void *tiles[])
{
	matrix_getrf(tiles[0]);
	matrix_trsm(CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT,
		    tiles[0], tiles[1]);
	matrix_trsm(CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
		    tiles[0], tiles[1]);
	matrix_gemm(tiles[0], tiles[1], tiles[2], 0);
}

void cuda_setup(int b)
{
	matrix_cuda_begin(b, sizeof(double), each);
}

void cuda_end(void)
{
	matrix_cuda_end();
}

void getrf_cuda(void *buffers[], void *)
{
	matrix_getrf(buffers[0]);
}

void trsm_row_cuda(void *buffers[], void *)
{
	matrix_trsm(CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT,
		    buffers[0], buffers[1]);
}

void trsm_column_cuda(void *buffers[], void *)
{
	matrix_trsm(CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
		    buffers[0], buffers[1]);
}

void gemm_cuda(void *buffers[], void *)
{
	matrix_gemm(buffers[0], buffers[1], buffers[2], 0);
}
}
