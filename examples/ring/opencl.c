/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The increment of the token ring for OpenCL devices: one work item.
 *
 * Invariant: the token is the whole of its buffer.
 */
#include "../opencl_kernels.h"

#ifdef STARPU_USE_OPENCL

static const char source[] = "__kernel void increment(__global int *token, ulong at)\n"
			     "{\n"
			     "	token[at / sizeof(int)]++;\n"
			     "}\n";

OPENCL_PROGRAM(source)

void increment_opencl(void *buffers[], void *arg)
{
	struct opencl_launch l = opencl_kernel(&program, "increment");

	(void) arg;
	opencl_place(&l, STARPU_VARIABLE_GET_DEV_HANDLE(buffers[0]),
		     STARPU_VARIABLE_GET_OFFSET(buffers[0]));
	opencl_run(&l, 1, 1);
}

#endif
