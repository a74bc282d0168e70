/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernels for devices, which not every build has, and tasks that only devices execute (the option
 * --devices of the examples).
 *
 * A program declares the functions of opencl.c and of kernels.cu by DEVICE_KERNEL and
 * DEVICE_SETUP, and names them in its codelets: one that was not linked is NULL, which means that
 * there is no such implementation.
 *
 * Invariant: codelets say by `where` which kinds of workers execute them; their functions stay.
 */
#ifndef EXAMPLES_DEVICES_H
#define EXAMPLES_DEVICES_H

#include <stdio.h>

#include <starpu.h>

#define DEVICE_KERNEL(function) \
	extern void function(void *buffers[], void *arg) __attribute__((weak))
#define DEVICE_SETUP(function) extern void function(void) __attribute__((weak))

/* Calls such a function if there is one. */
static inline void device_call(void (*function)(void))
{
	if (function)
		function();
}

/* Tells that --clblast cannot be had, and returns the exit status of that. */
static inline int devices_no_clblast(const char *program)
{
	fprintf(stderr, "%s --clblast: the examples were built without OpenCL\n", program);
	return 77;
}

/* Leaves the tasks of these codelets, up to a NULL, to devices. Returns 0, or 77 after a message
 * when there is no device that has a function for all of them. */
static inline int devices_only(struct starpu_codelet *const *cl, const char *program)
{
	unsigned ncuda = starpu_cuda_worker_get_count(), nopencl = starpu_opencl_worker_get_count();

	for (; *cl; cl++) {
		(*cl)->where = (ncuda && (*cl)->cuda_funcs[0] ? STARPU_CUDA : 0) |
			       (nopencl && (*cl)->opencl_funcs[0] ? STARPU_OPENCL : 0);
		if (!(*cl)->where) {
			fprintf(stderr,
				"%s --devices: no device executes %s: there are %u CUDA and %u OpenCL workers\n",
				program, (*cl)->name, ncuda, nopencl);
			return 77;
		}
	}
	return 0;
}

#endif /* EXAMPLES_DEVICES_H */
