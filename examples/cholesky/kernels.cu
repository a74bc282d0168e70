/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the Cholesky example for CUDA devices. kernels.c names them where nvcc compiled
 * this file.
 *
 * Invariant: what they compute is what kernels.c says; a tile that is not positive definite becomes
 * NaN, which --check finds.
 */
#include "../matrix_cuda.h"

extern "C" {

static void each(void *tiles[])
{
	matrix_potrf(tiles[0]);
	matrix_trsm(CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT,
		    tiles[0], tiles[1]);
	matrix_syrk(tiles[1], tiles[0]);
	matrix_gemm(tiles[0], tiles[1], tiles[2], 1);
}

void cuda_setup(int b, int single)
{
	matrix_cuda_begin(b, single ? sizeof(float) : sizeof(double), each);
}

void cuda_end(void)
{
	matrix_cuda_end();
}

void potrf_cuda(void *buffers[], void *)
{
	matrix_potrf(buffers[0]);
}

void trsm_cuda(void *buffers[], void *)
{
	matrix_trsm(CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT,
		    buffers[0], buffers[1]);
}

void syrk_cuda(void *buffers[], void *)
{
	matrix_syrk(buffers[0], buffers[1]);
}

void gemm_cuda(void *buffers[], void *)
{
	matrix_gemm(buffers[0], buffers[1], buffers[2], 1);
}
}
