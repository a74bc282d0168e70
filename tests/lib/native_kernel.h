/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A function of C as the kernel of an OpenCL device, which calls it in a thread of its own when its
 * turn comes. Only for programs in which STARPU_USE_OPENCL is defined.
 *
 * Invariant: it belongs to the queue of the calling worker, and has no data. */
#ifndef TESTS_LIB_NATIVE_KERNEL_H
#define TESTS_LIB_NATIVE_KERNEL_H

#include <starpu.h>

#include "lib/test.h"

static inline void native_kernel_start(void(CL_CALLBACK *function)(void *))
{
	cl_command_queue queue;

	starpu_opencl_get_current_queue(&queue);
	OK(clEnqueueNativeKernel(queue, function, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
}

#endif
