/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common to the files of the OpenCL driver.
 *
 * A device has a context of its own and three queues, which execute in order: for kernels, for
 * copies to it and for copies from it. OpenCL's threads ring when something is over.
 *
 * Invariant: a device lives until orr_opencl_exit(), which waits for the last ring. */
#ifndef ORR_DRIVERS_OPENCL_OWN_H
#define ORR_DRIVERS_OPENCL_OWN_H

#include <starpu.h>

#include "core/worker/device.h"
#include "drivers/opencl.h"

struct orr_cl_device {
	struct orr_process *proc;
	cl_device_id id;
	int is_part; /* a sub-device, which is released */
	cl_context context;
	cl_command_queue kernels, in, out;
	size_t memory;
	unsigned memnode;
	unsigned nringing; /* atomic: rings that were ordered and are not over */
	char name[64];
};

/* A kernel of a program that nobody uses just now, or that somebody does. */
struct orr_cl_kernel {
	struct orr_cl_kernel *next;
	cl_program program;
	cl_kernel kernel;
	char *name;
	int used;
};

struct orr_opencl {
	struct orr_cl_device device[STARPU_MAXOPENCLDEVS];
	unsigned ndevices;
	orr_lock_t lock; /* protects the kernels */
	struct orr_cl_kernel *kernels;
};

/* The process's device of that number; NULL after a message that names the caller: it is no device
 * that OpenCL drives. */
struct orr_cl_device *orr_cl_device(int devid, const char *caller);
/* That of the calling thread's worker, likewise. */
struct orr_cl_device *orr_cl_current(const char *caller);

/* A text for messages. */
const char *orr_cl_text(cl_int status);
/* The runtime's number for an error of OpenCL: -ENOMEM or -EIO. */
int orr_cl_errno(cl_int status);

/* Has `ring` be called by a thread of OpenCL's when the event is over. 0 or an error of OpenCL. */
cl_int orr_cl_ring(struct orr_cl_device *d, cl_event event,
		   void(CL_CALLBACK *ring)(cl_event, cl_int, void *), void *arg);

extern const struct orr_memnode_ops orr_cl_memory;
extern const struct orr_driver_ops orr_cl_driver;

#endif
