/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel of the stencil example for OpenCL devices: one work item for each cell.
 *
 * Invariant: a cell is computed from the same operands in the same order as by next_value(), and no
 * two operations are contracted into one, so that the result is that of the sequential program.
 */
#include "stencil.h"

#include "../opencl_kernels.h"

#ifdef STARPU_USE_OPENCL

/* X(n) is element n of a buffer; edges hold their first row or column, then their last one. */
static const char source[] =
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"#pragma OPENCL FP_CONTRACT OFF\n"
	"#define BUFFER(X) __global double *X, ulong at_##X\n"
	"#define AT(X, n) X[at_##X / sizeof(double) + (n)]\n"
	"\n"
	"__kernel void update(BUFFER(cells), BUFFER(top), BUFFER(bottom), BUFFER(lefts), BUFFER(rights),\n"
	"		     BUFFER(rows), BUFFER(columns), uint b, ulong from, ulong to)\n"
	"{\n"
	"	uint y = get_global_id(0), x = get_global_id(1);\n"
	"	size_t at = (size_t) x * b + y;\n"
	"	double cell = AT(cells, from + at);\n"
	"	double above = x ? AT(cells, from + at - b) : AT(top, b + y);\n"
	"	double below = x + 1 < b ? AT(cells, from + at + b) : AT(bottom, y);\n"
	"	double left = y ? AT(cells, from + at - 1) : AT(lefts, b + x);\n"
	"	double right = y + 1 < b ? AT(cells, from + at + 1) : AT(rights, x);\n"
	"	double next = cell + 0.2 * (((above + below) + (left + right)) - 4 * cell);\n"
	"\n"
	"	AT(cells, to + at) = next;\n"
	"	if (x == 0) AT(rows, y) = next;\n"
	"	if (x + 1 == b) AT(rows, b + y) = next;\n"
	"	if (y == 0) AT(columns, x) = next;\n"
	"	if (y + 1 == b) AT(columns, b + x) = next;\n"
	"}\n";

OPENCL_PROGRAM(source)

void update_opencl(void *buffers[], void *arg)
{
	struct opencl_launch l = opencl_kernel(&program, "update");
	cl_uint b = STARPU_BLOCK_GET_NX(buffers[0]);
	size_t plane = STARPU_BLOCK_GET_LDZ(buffers[0]);
	int t;

	starpu_codelet_unpack_args(arg, &t);
	cl_ulong from = (size_t) (t % 2) * plane, to = (size_t) ((t + 1) % 2) * plane;
	opencl_place(&l, STARPU_BLOCK_GET_DEV_HANDLE(buffers[0]),
		     STARPU_BLOCK_GET_OFFSET(buffers[0]));
	for (unsigned i = 1; i < 7; i++)
		opencl_place(&l, STARPU_VECTOR_GET_DEV_HANDLE(buffers[i]),
			     STARPU_VECTOR_GET_OFFSET(buffers[i]));
	opencl_arg(&l, sizeof(b), &b);
	opencl_arg(&l, sizeof(from), &from);
	opencl_arg(&l, sizeof(to), &to);
	opencl_run(&l, b, b);
}

#endif
