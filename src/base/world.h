/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structures that pass through the seam: a kernel, a copy, a device, as a world sees them.
 *
 * Invariant: nothing here leads to a structure of a floor above the ground; numbers stand for
 * workers and memory nodes. */
#ifndef ORR_BASE_WORLD_H
#define ORR_BASE_WORLD_H

#include "starpu.h"

#include "base/seam.h"

/* A worker's kernel. The core embeds one in each worker. Only the thread that steps the worker
 * touches it. */
struct orr_kernel {
	/* Constant: the worker's number, its type, the memory of its data. */
	unsigned worker;
	enum starpu_worker_archtype arch;
	unsigned memnode;
	/* Filled in before orr_sys_kernel_start: the implementation, the task and its number. */
	unsigned nimpl;
	struct starpu_task *task;
	uint64_t job;
	/* Filled in by the world, see orr_sys_kernel_start. */
	double end_us;
	double own_us;
	/* Of the time between start and end: the runtime's own, before and after the kernel. Always
	 * 0 in a real run. */
	double before_us, after_us;
	/* Of the same time: the program's turns on its core. Always 0 in a real run. */
	double turns_us;
};

/* A copy between two memory nodes. */
struct orr_copy {
	unsigned src, dst;
	enum starpu_node_kind src_kind, dst_kind;
	size_t size; /* bytes */
};

/* A device that the world adds to those that drivers find. */
struct orr_world_device {
	enum starpu_worker_archtype arch; /* CUDA or OpenCL */
	int devid;                        /* among the devices of its kind */
	size_t memory;                    /* bytes */
	int guessed;                      /* nobody measured the size of its memory */
};

#endif
