/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel of vector_scal.c for OpenCL devices. It is asynchronous: its function gives it to the
 * queue and returns, and the runtime fetches the next piece meanwhile.
 *
 * Invariant: the pieces of a device have no pointers; the kernel gets the handle of the whole
 * buffer, and the offset of the piece in it (chapter 27.7 of the handbook).
 */
#include "../opencl_kernels.h"

#ifdef STARPU_USE_OPENCL

static const char source[] = "__kernel void scale(__global float *v, ulong at, uint n, float by)\n"
			     "{\n"
			     "	uint i = get_global_id(0);\n"
			     "	if (i < n)\n"
			     "		v[at / sizeof(float) + i] *= by;\n"
			     "}\n";

OPENCL_PROGRAM(source)

void scale_opencl(void *buffers[], void *arg)
{
	struct opencl_launch l = opencl_kernel(&program, "scale");
	cl_uint n = STARPU_VECTOR_GET_NX(buffers[0]);
	float factor;

	starpu_codelet_unpack_args(arg, &factor);
	opencl_place(&l, STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]),
		     STARPU_VECTOR_GET_OFFSET(buffers[0]));
	opencl_arg(&l, sizeof(n), &n);
	opencl_arg(&l, sizeof(factor), &factor);
	opencl_run(&l, n, 1);
}

#endif
