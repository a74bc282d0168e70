/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for OpenCL beside programs and kernels: errors, contexts and queues, copies.
 *
 * Invariant: a device that OpenCL does not drive (a fake one, a simulated one) is named in a
 * message, and never guessed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/flow/profiling.h"
#include "data/data.h"
#include "data/flight.h"
#include "drivers/opencl_own.h"

/* ---- errors ---- */

static const struct {
	cl_int status;
	const char *text;
} texts[] = {
#define T(NAME) \
	{ \
		NAME, #NAME \
	}
	T(CL_SUCCESS),
	T(CL_DEVICE_NOT_FOUND),
	T(CL_DEVICE_NOT_AVAILABLE),
	T(CL_COMPILER_NOT_AVAILABLE),
	T(CL_MEM_OBJECT_ALLOCATION_FAILURE),
	T(CL_OUT_OF_RESOURCES),
	T(CL_OUT_OF_HOST_MEMORY),
	T(CL_PROFILING_INFO_NOT_AVAILABLE),
	T(CL_MEM_COPY_OVERLAP),
	T(CL_BUILD_PROGRAM_FAILURE),
	T(CL_MAP_FAILURE),
	T(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
	T(CL_INVALID_VALUE),
	T(CL_INVALID_DEVICE),
	T(CL_INVALID_CONTEXT),
	T(CL_INVALID_QUEUE_PROPERTIES),
	T(CL_INVALID_COMMAND_QUEUE),
	T(CL_INVALID_HOST_PTR),
	T(CL_INVALID_MEM_OBJECT),
	T(CL_INVALID_BINARY),
	T(CL_INVALID_BUILD_OPTIONS),
	T(CL_INVALID_PROGRAM),
	T(CL_INVALID_PROGRAM_EXECUTABLE),
	T(CL_INVALID_KERNEL_NAME),
	T(CL_INVALID_KERNEL_DEFINITION),
	T(CL_INVALID_KERNEL),
	T(CL_INVALID_ARG_INDEX),
	T(CL_INVALID_ARG_VALUE),
	T(CL_INVALID_ARG_SIZE),
	T(CL_INVALID_KERNEL_ARGS),
	T(CL_INVALID_WORK_DIMENSION),
	T(CL_INVALID_WORK_GROUP_SIZE),
	T(CL_INVALID_WORK_ITEM_SIZE),
	T(CL_INVALID_GLOBAL_OFFSET),
	T(CL_INVALID_EVENT_WAIT_LIST),
	T(CL_INVALID_EVENT),
	T(CL_INVALID_OPERATION),
	T(CL_INVALID_BUFFER_SIZE),
	T(CL_INVALID_GLOBAL_WORK_SIZE),
#undef T
};

const char *starpu_opencl_error_string(cl_int status)
{
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "an error of OpenCL that this library does not know";
}

const char *orr_cl_text(cl_int status)
{
	return starpu_opencl_error_string(status);
}

int orr_cl_errno(cl_int status)
{
	switch (status) {
	case CL_MEM_OBJECT_ALLOCATION_FAILURE:
	case CL_OUT_OF_RESOURCES:
	case CL_OUT_OF_HOST_MEMORY: return -ENOMEM;
	default: return -EIO;
	}
}

void starpu_opencl_display_error(const char *func, const char *file, int line, const char *msg,
				 cl_int status)
{
	orr_error("%s:%d: %s: %s%sOpenCL error %d (%s)", file, line, func, msg ? msg : "",
		  msg ? ": " : "", status, orr_cl_text(status));
}

void starpu_opencl_report_error(const char *func, const char *file, int line, const char *msg,
				cl_int status)
{
	starpu_opencl_display_error(func, file, line, msg, status);
	abort();
}

/* ---- devices ---- */

struct orr_cl_device *orr_cl_device(int devid, const char *caller)
{
	struct orr_opencl *cl = orr_self()->opencl;

	if (cl && devid >= 0 && (unsigned) devid < cl->ndevices)
		return &cl->device[devid];
	orr_error(
		"%s: OpenCL does not drive device %d: it is simulated or fake (a kernel for it needs a function for the CPU, or must not be executed), or does not exist",
		caller, devid);
	return NULL;
}

struct orr_cl_device *orr_cl_current(const char *caller)
{
	const struct orr_worker *w = orr_thread_self()->worker;

	if (w && w->arch == STARPU_OPENCL_WORKER)
		return orr_cl_device(w->devid, caller);
	orr_error("%s: the calling thread is no worker of an OpenCL device", caller);
	return NULL;
}

void starpu_opencl_get_context(int devid, cl_context *context)
{
	const struct orr_cl_device *d = orr_cl_device(devid, __func__);

	*context = d ? d->context : NULL;
}

void starpu_opencl_get_device(int devid, cl_device_id *device)
{
	const struct orr_cl_device *d = orr_cl_device(devid, __func__);

	*device = d ? d->id : NULL;
}

void starpu_opencl_get_queue(int devid, cl_command_queue *queue)
{
	const struct orr_cl_device *d = orr_cl_device(devid, __func__);

	*queue = d ? d->kernels : NULL;
}

void starpu_opencl_get_current_context(cl_context *context)
{
	const struct orr_cl_device *d = orr_cl_current(__func__);

	*context = d ? d->context : NULL;
}

void starpu_opencl_get_current_queue(cl_command_queue *queue)
{
	const struct orr_cl_device *d = orr_cl_current(__func__);

	*queue = d ? d->kernels : NULL;
}

/* ---- events ---- */

cl_int orr_cl_ring(struct orr_cl_device *d, cl_event event,
		   void(CL_CALLBACK *ring)(cl_event, cl_int, void *), void *arg)
{
	cl_int err;

	ORR_ATOMIC_ADD(&d->nringing, 1);
	err = clSetEventCallback(event, CL_COMPLETE, ring, arg);
	if (err != CL_SUCCESS)
		ORR_ATOMIC_ADD(&d->nringing, -1);
	return err;
}

int starpu_opencl_collect_stats(cl_event event)
{
	const struct orr_thread *self = orr_thread_self();
	cl_ulong begin = 0, end = 0;
	cl_int err;

	if (!self->worker)
		return 0;
	/* The kernel may be under way: an asynchronous function collects when it has waited. */
	err = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(begin), &begin,
				      NULL);
	if (err == CL_SUCCESS)
		err = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end,
					      NULL);
	if (err == CL_SUCCESS && end > begin)
		self->worker->prof.used_cycles += end - begin;
	return 0;
}

/* ---- memory ---- */

cl_int starpu_opencl_allocate_memory(int devid, cl_mem *addr, size_t size, cl_mem_flags flags)
{
	const struct orr_cl_device *d = orr_cl_device(devid, __func__);
	cl_int err = CL_INVALID_DEVICE;
	cl_mem mem = d ? clCreateBuffer(d->context, flags, size ? size : 1, NULL, &err) : NULL;

	if (err == CL_SUCCESS)
		*addr = mem;
	return err;
}

static struct orr_cl_device *of_node(unsigned memnode, const char *caller)
{
	const struct orr_process *proc = orr_self();

	if (memnode < proc->data->nmemnodes &&
	    proc->data->memnodes[memnode]->kind == STARPU_OPENCL_RAM)
		return orr_cl_device(proc->data->memnodes[memnode]->devid, caller);
	orr_error("%s: memory node %u is no memory of an OpenCL device", caller, memnode);
	return NULL;
}

/* The value of *ret after a copy: it is under way, or over. */
static cl_int started(cl_int err, const cl_event *event, int *ret)
{
	if (ret)
		*ret = err != CL_SUCCESS ? orr_cl_errno(err) : event ? -EAGAIN : 0;
	return err;
}

cl_int starpu_opencl_copy_ram_to_opencl(void *ptr, unsigned src_node, cl_mem buffer,
					unsigned dst_node, size_t size, size_t offset,
					cl_event *event, int *ret)
{
	struct orr_cl_device *d = of_node(dst_node, __func__);

	(void) src_node;
	if (!d)
		return started(CL_INVALID_DEVICE, event, ret);
	return started(clEnqueueWriteBuffer(d->in, buffer, event ? CL_FALSE : CL_TRUE, offset, size,
					    ptr, 0, NULL, event),
		       event, ret);
}

cl_int starpu_opencl_copy_opencl_to_ram(cl_mem buffer, unsigned src_node, void *ptr,
					unsigned dst_node, size_t size, size_t offset,
					cl_event *event, int *ret)
{
	struct orr_cl_device *d = of_node(src_node, __func__);

	(void) dst_node;
	if (!d)
		return started(CL_INVALID_DEVICE, event, ret);
	return started(clEnqueueReadBuffer(d->out, buffer, event ? CL_FALSE : CL_TRUE, offset, size,
					   ptr, 0, NULL, event),
		       event, ret);
}

cl_int starpu_opencl_copy_opencl_to_opencl(cl_mem src, unsigned src_node, size_t src_offset,
					   cl_mem dst, unsigned dst_node, size_t dst_offset,
					   size_t size, cl_event *event, int *ret)
{
	struct orr_cl_device *d = of_node(src_node, __func__);
	cl_int err = d ? CL_SUCCESS : CL_INVALID_DEVICE;

	if (d && src_node == dst_node) {
		err = clEnqueueCopyBuffer(d->out, src, dst, src_offset, dst_offset, size, 0, NULL,
					  event);
		if (err == CL_SUCCESS && !event)
			err = clFinish(d->out);
		return started(err, event, ret);
	}
	if (d && starpu_interface_copy((uintptr_t) src, src_offset, src_node, (uintptr_t) dst,
				       dst_offset, dst_node, size, NULL))
		err = CL_OUT_OF_RESOURCES;
	return started(err, NULL, ret);
}

cl_int starpu_opencl_copy_async_sync(uintptr_t src, size_t src_offset, unsigned src_node,
				     uintptr_t dst, size_t dst_offset, unsigned dst_node,
				     size_t size, cl_event *event)
{
	int from = starpu_node_get_kind(src_node) == STARPU_OPENCL_RAM,
	    to = starpu_node_get_kind(dst_node) == STARPU_OPENCL_RAM, ret = -EINVAL;

	if (from && to)
		starpu_opencl_copy_opencl_to_opencl((cl_mem) src, src_node, src_offset,
						    (cl_mem) dst, dst_node, dst_offset, size, event,
						    &ret);
	else if (from)
		starpu_opencl_copy_opencl_to_ram((cl_mem) src, src_node, (char *) dst + dst_offset,
						 dst_node, size, src_offset, event, &ret);
	else
		starpu_opencl_copy_ram_to_opencl((char *) src + src_offset, src_node, (cl_mem) dst,
						 dst_node, size, dst_offset, event, &ret);
	return ret;
}
