/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the Cholesky example for OpenCL devices.
 *
 * Invariant: what they compute is what kernels.c says; a tile that is not positive definite becomes
 * NaN, which --check finds.
 */
#include "cholesky.h"

#include "../matrix_opencl.h"

#ifdef STARPU_USE_OPENCL

int opencl_setup(int single, int clblast)
{
	return matrix_opencl_begin(single, clblast, "cholesky");
}

void opencl_end(void)
{
	matrix_opencl_end();
}

void potrf_opencl(void *buffers[], void *arg)
{
	(void) arg;
	matrix_factor("potrf", buffers[0]);
}

void trsm_opencl(void *buffers[], void *arg)
{
	(void) arg;
	matrix_ops->solve_right(buffers[0], buffers[1], 1);
}

void syrk_opencl(void *buffers[], void *arg)
{
	(void) arg;
	matrix_ops->update(buffers[0], buffers[0], buffers[1], 1, 1);
}

void gemm_opencl(void *buffers[], void *arg)
{
	(void) arg;
	matrix_ops->update(buffers[0], buffers[1], buffers[2], 1, 0);
}

#endif
