/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Helpers of the functions in opencl_funcs: they give one kernel to the queue of the calling worker
 * and return. Empty unless the library was built with OpenCL.
 *
 * Invariant: an error of OpenCL ends the program with a message.
 *
 *      OPENCL_PROGRAM(source)
 *      struct opencl_launch l = opencl_kernel(&program, "scale");
 *      opencl_arg(&l, sizeof(n), &n);
 *      opencl_run(&l, n, 1);
 */
#ifndef EXAMPLES_OPENCL_KERNELS_H
#define EXAMPLES_OPENCL_KERNELS_H

#include <starpu.h>

#ifdef STARPU_USE_OPENCL

struct opencl_launch {
	cl_kernel kernel;
	cl_command_queue queue;
	cl_uint narguments;
};

static inline void opencl_check(cl_int err)
{
	if (err != CL_SUCCESS)
		STARPU_OPENCL_REPORT_ERROR(err);
}

/* Defines the program of a file of kernels, and the functions that compile it and free it. */
#define OPENCL_PROGRAM(source) \
	static struct starpu_opencl_program program; \
\
	void opencl_setup(void) \
	{ \
		opencl_check(starpu_opencl_load_opencl_from_string(source, &program, NULL)); \
	} \
	void opencl_end(void) \
	{ \
		starpu_opencl_unload_opencl(&program); \
	}

/* A kernel of the program, for the device of the calling worker. */
static inline struct opencl_launch opencl_kernel(struct starpu_opencl_program *program,
						 const char *name)
{
	struct opencl_launch l = { .narguments = 0 };

	opencl_check(starpu_opencl_load_kernel(&l.kernel, &l.queue, program, name,
					       starpu_worker_get_devid(starpu_worker_get_id())));
	return l;
}

/* Sets the next argument, of that many bytes. */
static inline void opencl_arg(struct opencl_launch *l, size_t bytes, const void *value)
{
	opencl_check(clSetKernelArg(l->kernel, l->narguments++, bytes, value));
}

/* Sets the next two arguments: a buffer, and the offset in it in bytes. */
static inline void opencl_place(struct opencl_launch *l, uintptr_t dev_handle, size_t offset)
{
	cl_mem mem = (cl_mem) dev_handle;
	cl_ulong at = offset;

	opencl_arg(l, sizeof(mem), &mem);
	opencl_arg(l, sizeof(at), &at);
}

/* Starts the kernel in groups of `group` work items, 0: as OpenCL likes. */
static inline void opencl_run_groups(struct opencl_launch *l, size_t x, size_t y, size_t group)
{
	const size_t global[2] = { x, y }, local[2] = { group, 1 };

	opencl_check(clEnqueueNDRangeKernel(l->queue, l->kernel, 2, NULL, global,
					    group ? local : NULL, 0, NULL, NULL));
	opencl_check(starpu_opencl_release_kernel(l->kernel));
}

/* Starts the kernel with x * y work items. */
static inline void opencl_run(struct opencl_launch *l, size_t x, size_t y)
{
	opencl_run_groups(l, x, y, 0);
}

#endif
#endif /* EXAMPLES_OPENCL_KERNELS_H */
