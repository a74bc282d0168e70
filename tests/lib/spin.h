/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel of OpenCL, and one of CUDA, that computes on one unit for about as long as the program
 * wants, for tests of overlap. Where the library was built without OpenCL there is none of that;
 * that of CUDA is in spin_cuda.cu, which a program is linked with where nvcc is there.
 *
 * Invariant: it adds 1 to the first element of its vector, however long it computes. */
#ifndef TESTS_LIB_SPIN_H
#define TESTS_LIB_SPIN_H

#include <starpu.h>
#include <string.h>

#include "lib/spin_cuda.h"
#include "lib/test.h"

static unsigned spin_rounds;

#ifdef STARPU_USE_CUDA
static inline void spin_on_cuda(void *buffers[], void *arg)
{
	(void) arg;
	OK(spin_cuda_launch((float *) STARPU_VECTOR_GET_PTR(buffers[0]), spin_rounds,
			    starpu_cuda_get_local_stream()));
}
#else
#define spin_on_cuda NULL
#endif

#ifdef STARPU_USE_OPENCL

static struct starpu_opencl_program spin_program;

/* Each round depends on the one before, so that no compiler shortens the loop. */
static const char spin_source[] =
	"__kernel void spin(__global float *v, unsigned rounds)\n"
	"{\n"
	"	unsigned x = 1;\n"
	"	for (unsigned i = 0; i < rounds; i++) x = x * 1664525u + (x >> 16) + 1013904223u;\n"
	"	v[0] += x == 0 ? 2 : 1;\n"
	"}\n";

/* Compiles the kernel; it computes for that many rounds from now on. */
static void spin_load(double rounds)
{
	spin_rounds = (unsigned) rounds;
	if (starpu_opencl_worker_get_count() && !spin_program.programs[0])
		OK(starpu_opencl_load_opencl_from_string(spin_source, &spin_program, NULL));
}

static void spin_unload(void)
{
	if (spin_program.programs[0])
		OK(starpu_opencl_unload_opencl(&spin_program));
	memset(&spin_program, 0, sizeof(spin_program));
}

static void spin_on_opencl(void *buffers[], void *arg)
{
	cl_mem v = (cl_mem) STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
	int devid = starpu_worker_get_devid(starpu_worker_get_id());
	size_t global = 1;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_int err;

	(void) arg;
	OK(starpu_opencl_load_kernel(&kernel, &queue, &spin_program, "spin", devid));
	CHECK_IS(starpu_opencl_set_kernel_args(&err, &kernel, sizeof(v), &v, sizeof(spin_rounds),
					       &spin_rounds, 0),
		 2);
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
	OK(starpu_opencl_release_kernel(kernel));
}

#else

#define spin_on_opencl NULL

static void spin_load(double rounds)
{
	spin_rounds = (unsigned) rounds;
}

static void spin_unload(void) {}

#endif
#endif
