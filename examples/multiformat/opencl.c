/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The step of multiformat.c on OpenCL devices, and the conversion that makes their layout there.
 *
 * Invariant: a kernel has one work item for each point.
 */
#include "../opencl_kernels.h"

#ifdef STARPU_USE_OPENCL

/* On devices all the x come first, then all the y. */
static const char source[] =
	"__kernel void advance(__global float *x, uint n)\n"
	"{\n"
	"	uint i = get_global_id(0);\n"
	"	x[i] += 2 * x[n + i];\n"
	"	x[n + i] += 1;\n"
	"}\n"
	"\n"
	"__kernel void separate(__global float *x, uint n, __global const float2 *p)\n"
	"{\n"
	"	uint i = get_global_id(0);\n"
	"	x[i] = p[i].x;\n"
	"	x[n + i] = p[i].y;\n"
	"}\n";

OPENCL_PROGRAM(source)

/* A multiformat buffer of a device holds the handle of a buffer of its own. */
static struct opencl_launch begin(const char *name, void *buffer)
{
	struct opencl_launch l = opencl_kernel(&program, name);
	cl_mem x = STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffer);
	cl_uint n = STARPU_MULTIFORMAT_GET_NX(buffer);

	opencl_arg(&l, sizeof(x), &x);
	opencl_arg(&l, sizeof(n), &n);
	return l;
}

void step_opencl(void *buffers[], void *arg)
{
	struct opencl_launch l = begin("advance", buffers[0]);

	(void) arg;
	opencl_run(&l, STARPU_MULTIFORMAT_GET_NX(buffers[0]), 1);
}

/* The value from main memory lies on the device, next to the place for the result. */
void convert_opencl(void *buffers[], void *arg)
{
	struct opencl_launch l = begin("separate", buffers[0]);
	cl_mem p = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

	(void) arg;
	opencl_arg(&l, sizeof(p), &p);
	opencl_run(&l, STARPU_MULTIFORMAT_GET_NX(buffers[0]), 1);
}

#endif
