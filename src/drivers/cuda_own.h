/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common to the files of the CUDA driver.
 *
 * A device has streams for copies to it, for copies from it, for copies inside it, and for copies
 * to each other device; each of its workers has a stream for kernels. What is in a stream is
 * executed in order. Threads of CUDA's ring when something is over; an error rings nobody, so
 * whoever waits asks every now and then. Rings are ordered in a second stream beside each of these,
 * which waits for their events: a stream stands still while a function of the host runs in it.
 *
 * Invariant: a device lives until orr_cuda_exit(), which waits for the last ring. */
#ifndef ORR_DRIVERS_CUDA_OWN_H
#define ORR_DRIVERS_CUDA_OWN_H

#include <starpu.h>

#include "core/worker/device.h"
#include "drivers/cuda.h"
#include "drivers/cuda_api.h"

#define ORR_CU_MAXWORKERS 32
/* Errors are noticed that late. */
#define ORR_CU_POLL_US 10000.0
/* More than struct cudaDeviceProp has in any version. */
#define ORR_CU_PROPERTIES 8192

/* NVIDIA's libraries that have a handle on each worker (cuda_handles.c). */
enum orr_cu_library { ORR_CU_BLAS, ORR_CU_BLASLT, ORR_CU_SPARSE, ORR_CU_SOLVER, ORR_CU_NLIBRARIES };

struct orr_cu_worker {
	void *handle[ORR_CU_NLIBRARIES]; /* NULL: not started */
	void *stream;
	void *event; /* kernels that are waited for are in front of it */
};

/* A stream, and the one of its rings. */
struct orr_cu_bell {
	void *stream, *rings;
};

struct orr_cu_device {
	struct orr_process *proc;
	const struct orr_cu_api *api;
	int id; /* CUDA's number of it */
	void *in, *out, *inside;
	void *peer[STARPU_MAXCUDADEVS]; /* to each other device of the process, by index */
	struct orr_cu_worker worker[ORR_CU_MAXWORKERS];
	struct orr_cu_bell bell[3 + STARPU_MAXCUDADEVS + ORR_CU_MAXWORKERS];
	unsigned nbells;
	size_t memory;
	unsigned memnode;  /* atomic */
	unsigned nringing; /* atomic: rings that were ordered and are not over */
	_Alignas(16) char properties[ORR_CU_PROPERTIES];
};

struct orr_cuda {
	struct orr_cu_api api;
	void *so[ORR_CU_NLIBRARIES]; /* NULL: not loaded */
	struct orr_cu_device device[STARPU_MAXCUDADEVS];
	unsigned ndevices;
};

/* Makes the device the calling thread's. Returns the one that it was, for orr_cu_leave(). */
int orr_cu_enter(const struct orr_cu_device *d);
void orr_cu_leave(const struct orr_cu_device *d, int old);

/* Behind all that is in the stream: an event, and a ring. 0 or an error of CUDA. */
int orr_cu_mark(struct orr_cu_device *d, void *stream, void **event, void (*ring)(void *),
		void *arg);
/* Is all over that is in front of the event? ORR_CU_SUCCESS, ORR_CU_NOT_READY, or an error. */
int orr_cu_query(const struct orr_cu_device *d, void *event);
/* [waits] For all that is in the stream. 0 or an error of CUDA. */
int orr_cu_drain(const struct orr_cu_device *d, void *stream);
/* The runtime's number for an error of CUDA: -ENOMEM or -EIO. */
int orr_cu_errno(int err);

/* The device that has this memory, NULL: CUDA does not drive it. */
struct orr_cu_device *orr_cu_device_of(struct orr_process *proc, unsigned memnode);
/* CUDA's side of a worker of the device; NULL: it is none. Any thread. */
struct orr_cu_worker *orr_cu_worker_of(struct orr_cu_device *d, const struct orr_worker *w);

/* Rows of size bytes, ld_* bytes apart. */
struct orr_cu_rows {
	const char *src;
	char *dst;
	size_t size, count, ld_src, ld_dst;
};
/* The stream for copies between these nodes, and the device that it belongs to. */
void *orr_cu_stream(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		    struct orr_cu_device **d);
/* Enters a copy in a stream. 0 or an error of CUDA. */
int orr_cu_enqueue(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		   const struct orr_cu_rows *r, void *stream);

extern const struct orr_memnode_ops orr_cu_memory;
extern const struct orr_driver_ops orr_cu_driver;

#endif
