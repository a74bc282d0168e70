/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for kernels and data interfaces on CUDA devices (starpu_cuda.h).
 *
 * They are there in every build with the driver, with the toolkit or without (cuda_types.h).
 *
 * Invariant: a device that CUDA does not drive (a fake one, a simulated one) is named in a message,
 * and never guessed. */
#include "drivers/cuda_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "base/log.h"
#include "data/data.h"
#include "drivers/cuda_own.h"

/* ---- errors ---- */

void starpu_cuda_report_error(const char *func, const char *file, int line, cudaError_t status)
{
	const struct orr_cuda *cu = orr_self()->cuda;

	orr_error("%s (%s:%d): CUDA error %d: %s", func, file, line, (int) status,
		  cu ? cu->api.text((int) status) : "the runtime is down");
	abort();
}

void starpu_cublas_report_error(const char *func, const char *file, int line, int status)
{
	orr_error("%s (%s:%d): cuBLAS status %d", func, file, line, status);
	abort();
}

/* ---- devices ---- */

/* The device of a worker, NULL after a message. */
static struct orr_cu_device *device_of(const struct orr_worker *w, const char *caller)
{
	if (w && w->arch == STARPU_CUDA_WORKER && w->driver == &orr_cu_driver)
		return w->driver_arg;
	orr_error(
		"%s: %s is no worker of a device that CUDA drives (fake and simulated devices have no streams)",
		caller, w ? w->name : "the calling thread");
	return NULL;
}

cudaStream_t starpu_cuda_get_local_stream(void)
{
	const struct orr_worker *w = orr_thread_self()->worker;
	struct orr_cu_device *d = device_of(w, __func__);

	return d ? orr_cu_worker_of(d, w)->stream : NULL;
}

const struct cudaDeviceProp *starpu_cuda_get_device_properties(unsigned workerid)
{
	const struct orr_core *core = orr_self()->core;
	const struct orr_cu_device *d = device_of(
		workerid < core->nworkers ? &core->workers[workerid] : NULL, __func__);

	return d ? (const void *) d->properties : NULL;
}

void starpu_cuda_set_device(unsigned devid)
{
	const struct orr_cuda *cu = orr_self()->cuda;
	int err = cu ? cu->api.set_device((int) devid) : ORR_CU_NO_DEVICE;

	if (err != ORR_CU_SUCCESS)
		orr_fatal("starpu_cuda_set_device: CUDA device %u cannot be used: %s", devid,
			  cu ? cu->api.text(err) : "CUDA drives no device");
}

/* ---- copies ---- */

/* The device that copies between these nodes, NULL after a message. */
static const struct orr_cu_device *copier(unsigned src_node, unsigned dst_node, const char *caller)
{
	struct orr_process *proc = orr_self();
	unsigned n = proc->data->nmemnodes;
	const struct orr_cu_device *d = src_node < n ? orr_cu_device_of(proc, src_node) : NULL;

	if (!d && dst_node < n)
		d = orr_cu_device_of(proc, dst_node);
	if (!d)
		orr_error("%s: neither memory node %u nor %u is that of a device that CUDA drives",
			  caller, src_node, dst_node);
	return d;
}

/* Enters a copy in the stream; without one, it is waited for. */
static int copy_rows(unsigned src_node, unsigned dst_node, const struct orr_cu_rows *r,
		     void *stream, const char *caller)
{
	struct orr_process *proc = orr_self();
	const struct orr_cu_device *d = copier(src_node, dst_node, caller);
	struct orr_cu_device *owner;

	if (!d)
		return -EINVAL;
	void *used = stream ? stream : orr_cu_stream(proc, src_node, dst_node, &owner);
	int old = orr_cu_enter(d), err = orr_cu_enqueue(proc, src_node, dst_node, r, used);

	if (err == ORR_CU_SUCCESS && !stream)
		err = orr_cu_drain(d, used);
	orr_cu_leave(d, old);
	if (err == ORR_CU_SUCCESS)
		return stream ? -EAGAIN : 0;
	orr_error("%s: a copy of %zu bytes from memory node %u to %u: %s", caller,
		  r->size * r->count, src_node, dst_node, d->api->text(err));
	return orr_cu_errno(err);
}

static struct orr_cu_rows rows(void *src, void *dst, size_t size, size_t count, size_t ld_src,
			       size_t ld_dst)
{
	return (struct orr_cu_rows){ .src = src,
				     .dst = dst,
				     .size = size,
				     .count = count,
				     .ld_src = ld_src,
				     .ld_dst = ld_dst };
}

int starpu_cuda_copy_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr, unsigned dst_node,
				size_t ssize, cudaStream_t stream, enum cudaMemcpyKind kind)
{
	struct orr_cu_rows r = rows(src_ptr, dst_ptr, ssize, 1, 0, 0);

	(void) kind; /* the nodes say it */
	return copy_rows(src_node, dst_node, &r, stream, __func__);
}

int starpu_cuda_copy2d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks,
				  size_t ld_src, size_t ld_dst, cudaStream_t stream,
				  enum cudaMemcpyKind kind)
{
	struct orr_cu_rows r = rows(src_ptr, dst_ptr, blocksize, numblocks, ld_src, ld_dst);

	(void) kind;
	return copy_rows(src_node, dst_node, &r, stream, __func__);
}

int starpu_cuda_copy3d_async_sync(void *src_ptr, unsigned src_node, void *dst_ptr,
				  unsigned dst_node, size_t blocksize, size_t numblocks_1,
				  size_t ld1_src, size_t ld1_dst, size_t numblocks_2,
				  size_t ld2_src, size_t ld2_dst, cudaStream_t stream,
				  enum cudaMemcpyKind kind)
{
	struct orr_cu_rows r = rows(src_ptr, dst_ptr, blocksize, numblocks_1, ld1_src, ld1_dst);
	int ret = 0;

	(void) kind;
	for (size_t i = 0; i < numblocks_2 && (!ret || ret == -EAGAIN); i++) {
		ret = copy_rows(src_node, dst_node, &r, stream, __func__);
		r.src += ld2_src;
		r.dst += ld2_dst;
	}
	return ret;
}
