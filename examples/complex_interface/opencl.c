/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel of complex.c for OpenCL devices: each work item squares one number.
 *
 * Invariant: both parts of a piece begin at the same offset of their buffers.
 */
#include "complex_interface.h"

#include "../opencl_kernels.h"

#ifdef STARPU_USE_OPENCL

static const char source[] =
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"__kernel void square(__global double *re, ulong at, __global double *im, ulong same, int value)\n"
	"{\n"
	"	size_t i = at / sizeof(double) + get_global_id(0);\n"
	"	double x = re[i] * re[i] - im[i] * im[i] + value;\n"
	"	im[i] = 2 * re[i] * im[i];\n"
	"	re[i] = x;\n"
	"}\n";

OPENCL_PROGRAM(source)

void square_opencl(void *buffers[], void *arg)
{
	const struct complex_interface *c = buffers[0];
	struct opencl_launch l = opencl_kernel(&program, "square");
	cl_int value;

	starpu_codelet_unpack_args(arg, &value);
	opencl_place(&l, c->real_handle, c->offset);
	opencl_place(&l, c->imaginary_handle, c->offset);
	opencl_arg(&l, sizeof(value), &value);
	opencl_run(&l, (size_t) c->nx, 1);
}

#endif
