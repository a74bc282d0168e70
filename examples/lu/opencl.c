/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the LU example for OpenCL devices.
 *
 * Invariant: what they compute is what kernels.c says; a tile that needs an exchange of rows is
 * factored all the same, and --check finds what comes of that.
 */
#include "lu.h"

#include "../matrix_opencl.h"

#ifdef STARPU_USE_OPENCL

int opencl_setup(int clblast)
{
	return matrix_opencl_begin(0, clblast, "lu");
}

void opencl_end(void)
{
	matrix_opencl_end();
}

void getrf_opencl(void *buffers[], void *arg)
{
	(void) arg;
	matrix_factor("getrf", buffers[0]);
}

void trsm_row_opencl(void *buffers[], void *arg)
{
	(void) arg;
	matrix_ops->solve_left(buffers[0], buffers[1]);
}

void trsm_column_opencl(void *buffers[], void *arg)
{
	(void) arg;
	matrix_ops->solve_right(buffers[0], buffers[1], 0);
}

void gemm_opencl(void *buffers[], void *arg)
{
	(void) arg;
	matrix_ops->update(buffers[0], buffers[1], buffers[2], 0, 0);
}

#endif
