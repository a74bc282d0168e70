/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of devices that OpenCL drives: buffers are cl_mem, which cannot be computed with, and
 * copies are events.
 *
 * Invariant: an event on a channel is the runtime's: it was ordered to ring, and is released when
 * it was found to be over. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "data/data.h"
#include "data/flight.h"
#include "drivers/opencl_own.h"

/* One copy, as OpenCL is asked for it: rows of size bytes. */
struct rows {
	uintptr_t src, dst;
	size_t src_offset, dst_offset, size, count, ld_src, ld_dst;
};

/* The second half of a copy between two devices, whose contexts know nothing of each other: from
 * main memory, which is freed after it, to the device. Without a device there is none. */
struct leg {
	struct orr_cl_device *to;
	struct rows rows;
};

/* A copy under way, and what begins at its end. A channel has a list of them. */
struct flying {
	struct flying *next;
	cl_event event;
	struct leg then;
	void *buffer;
};

static struct orr_cl_device *device_of(struct orr_process *proc, unsigned memnode)
{
	return proc->data->memnodes[memnode]->ops_arg;
}

static int is_ours(const struct orr_process *proc, unsigned memnode)
{
	return proc->data->memnodes[memnode]->kind == STARPU_OPENCL_RAM;
}

/* ---- buffers ---- */

static uintptr_t cl_alloc(struct orr_process *proc, unsigned memnode, size_t size, int flags)
{
	struct orr_cl_device *d = device_of(proc, memnode);
	cl_int err;
	cl_mem mem = clCreateBuffer(d->context, CL_MEM_READ_WRITE, size ? size : 1, NULL, &err);

	(void) flags;
	/* A copy needs a buffer first, so whoever rings knows the number. */
	ORR_ATOMIC_STORE_RELAXED(&d->memnode, memnode);
	return err == CL_SUCCESS ? (uintptr_t) mem : 0;
}

static void cl_release(struct orr_process *proc, unsigned memnode, uintptr_t addr, size_t size,
		       int flags)
{
	(void) proc;
	(void) memnode;
	(void) size;
	(void) flags;
	clReleaseMemObject((cl_mem) addr);
}

/* ---- rows ---- */

/* Rows are a rectangle for OpenCL if they begin in the middle of no row. */
static int is_rectangle(const struct rows *r)
{
	return r->count > 1 && r->src_offset % r->ld_src + r->size <= r->ld_src &&
	       r->dst_offset % r->ld_dst + r->size <= r->ld_dst;
}

static cl_int write_rows(struct orr_cl_device *d, const struct rows *r, cl_bool block,
			 cl_event *event)
{
	const char *src = (const char *) r->src + r->src_offset;

	if (r->count == 1)
		return clEnqueueWriteBuffer(d->in, (cl_mem) r->dst, block, r->dst_offset, r->size,
					    src, 0, NULL, event);
	size_t at[3] = { r->dst_offset % r->ld_dst, r->dst_offset / r->ld_dst, 0 },
	       from[3] = { 0, 0, 0 }, region[3] = { r->size, r->count, 1 };
	return clEnqueueWriteBufferRect(d->in, (cl_mem) r->dst, block, at, from, region, r->ld_dst,
					0, r->ld_src, 0, src, 0, NULL, event);
}

static cl_int read_rows(struct orr_cl_device *d, const struct rows *r, cl_bool block,
			cl_event *event)
{
	char *dst = (char *) r->dst + r->dst_offset;

	if (r->count == 1)
		return clEnqueueReadBuffer(d->out, (cl_mem) r->src, block, r->src_offset, r->size,
					   dst, 0, NULL, event);
	size_t at[3] = { r->src_offset % r->ld_src, r->src_offset / r->ld_src, 0 },
	       to[3] = { 0, 0, 0 }, region[3] = { r->size, r->count, 1 };
	return clEnqueueReadBufferRect(d->out, (cl_mem) r->src, block, at, to, region, r->ld_src, 0,
				       r->ld_dst, 0, dst, 0, NULL, event);
}

static cl_int move_rows(struct orr_cl_device *d, const struct rows *r, cl_bool block,
			cl_event *event)
{
	if (r->count == 1)
		return clEnqueueCopyBuffer(d->out, (cl_mem) r->src, (cl_mem) r->dst, r->src_offset,
					   r->dst_offset, r->size, 0, NULL, event);
	size_t from[3] = { r->src_offset % r->ld_src, r->src_offset / r->ld_src, 0 },
	       at[3] = { r->dst_offset % r->ld_dst, r->dst_offset / r->ld_dst, 0 },
	       region[3] = { r->size, r->count, 1 };
	(void) block;
	return clEnqueueCopyBufferRect(d->out, (cl_mem) r->src, (cl_mem) r->dst, from, at, region,
				       r->ld_src, 0, r->ld_dst, 0, 0, NULL, event);
}

/* Reads what goes from one device to another into main memory. The leg that follows has it. */
static cl_int first_leg(struct orr_cl_device *from, struct orr_cl_device *to, const struct rows *r,
			cl_bool block, cl_event *event, struct leg *then)
{
	char *buf = malloc(r->size * r->count);
	struct rows first = *r;
	cl_int err;

	if (!buf)
		return CL_OUT_OF_HOST_MEMORY;
	*then = (struct leg){ .to = to, .rows = *r };
	first.dst = then->rows.src = (uintptr_t) buf;
	first.dst_offset = then->rows.src_offset = 0;
	first.ld_dst = then->rows.ld_src = r->size;
	err = read_rows(from, &first, block, event);
	if (err != CL_SUCCESS)
		free(buf);
	return err;
}

/* Executes the second leg at once, if there is one. */
static cl_int last_leg(const struct leg *then)
{
	cl_int err;

	if (!then->to)
		return CL_SUCCESS;
	err = write_rows(then->to, &then->rows, CL_TRUE, NULL);
	free((void *) then->rows.src);
	return err;
}

/* ---- events ---- */

/* The calling thread is asking whether copies are over, under a lock: it needs no ring. OpenCL
 * calls back at once, in this thread, if the event is over already. */
static _Thread_local int asking;

static void CL_CALLBACK copy_over(cl_event event, cl_int status, void *arg)
{
	struct orr_cl_device *d = arg;

	(void) event;
	(void) status;
	if (!asking)
		orr_flight_ring(d->proc, ORR_ATOMIC_LOAD_RELAXED(&d->memnode));
	ORR_ATOMIC_ADD(&d->nringing, -1);
}

/* The channel waits for that event, too, and for the leg after it. Without memory both are waited
 * for now. */
static int put_event(struct orr_cl_device *d, struct orr_copy_channel *chan, cl_event event,
		     const struct leg *then)
{
	struct flying *f = malloc(sizeof(*f));

	if (!f || orr_cl_ring(d, event, copy_over, d) != CL_SUCCESS) {
		clWaitForEvents(1, &event);
		clReleaseEvent(event);
		free(f);
		cl_int err = last_leg(then);
		return err == CL_SUCCESS ? 0 : orr_cl_errno(err);
	}
	clFlush(d->in);
	clFlush(d->out);
	*f = (struct flying){
		.next = chan->own, .event = event, .then = *then, .buffer = (void *) then->rows.src
	};
	chan->own = f;
	chan->pending++;
	chan->due_us = INFINITY;
	return -EAGAIN;
}

static int is_over(cl_event event)
{
	cl_int status = CL_COMPLETE, err = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
							  sizeof(status), &status, NULL);

	if (err != CL_SUCCESS || status < 0)
		orr_fatal("a copy by OpenCL failed: %s",
			  orr_cl_text(err != CL_SUCCESS ? err : status));
	return status == CL_COMPLETE;
}

/* Begins the second leg. 0: f->event is its end; else there is none, or it is over. */
static int next_leg(struct flying *f)
{
	struct orr_cl_device *to = f->then.to;
	cl_int err;

	if (!to)
		return -1;
	clReleaseEvent(f->event);
	err = write_rows(to, &f->then.rows, CL_FALSE, &f->event);
	if (err != CL_SUCCESS)
		orr_fatal("a copy between devices by OpenCL failed: %s", orr_cl_text(err));
	f->then.to = NULL;
	if (orr_cl_ring(to, f->event, copy_over, to) != CL_SUCCESS) {
		clWaitForEvents(1, &f->event);
		return -1;
	}
	clFlush(to->in);
	return 0;
}

/* An interface's own method has left an event: it is the runtime's from now on. */
static void take_own_event(struct orr_process *proc, struct orr_copy_channel *chan)
{
	cl_event event = chan->event;
	struct leg none = { .to = NULL };

	chan->event = NULL;
	if (event)
		put_event(device_of(proc, is_ours(proc, chan->src) ? chan->src : chan->dst), chan,
			  event, &none);
}

static int cl_test(struct orr_process *proc, struct orr_copy_channel *chan)
{
	struct flying **p, *f;

	asking = 1;
	take_own_event(proc, chan);
	for (p = (struct flying **) &chan->own; (f = *p);) {
		if (!is_over(f->event)) {
			p = &f->next;
			continue;
		}
		if (!next_leg(f)) /* it may be over, too */
			continue;
		*p = f->next;
		clReleaseEvent(f->event);
		free(f->buffer);
		free(f);
		chan->pending--;
	}
	asking = 0;
	return chan->pending == 0;
}

static void cl_wait(struct orr_process *proc, struct orr_copy_channel *chan)
{
	struct flying *f = chan->own;

	(void) proc;
	if (f)
		clWaitForEvents(1, &f->event);
}

/* ---- copies ---- */

/* Copies, or starts to (chan not NULL). 0, -EAGAIN or another -errno. */
static int copy_rows(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		     const struct rows *r, struct orr_copy_channel *chan)
{
	int from = is_ours(proc, src_node), to = is_ours(proc, dst_node);
	struct orr_cl_device *d = device_of(proc, from ? src_node : dst_node);
	cl_event event = NULL, *e = chan ? &event : NULL;
	struct leg then = { .to = NULL };
	cl_int err;

	if (from && to && src_node != dst_node) {
		err = first_leg(d, device_of(proc, dst_node), r, !chan, e, &then);
		if (err == CL_SUCCESS && !chan)
			err = last_leg(&then);
	} else if (from && to) {
		err = move_rows(d, r, !chan, e);
		if (err == CL_SUCCESS && !chan)
			err = clFinish(d->out);
	} else {
		err = from ? read_rows(d, r, !chan, e) : write_rows(d, r, !chan, e);
	}
	if (err != CL_SUCCESS) {
		int ret = orr_cl_errno(err);

		if (ret != -ENOMEM)
			orr_error(
				"OpenCL refuses a copy of %zu bytes from memory node %u to %u: %s",
				r->size * r->count, src_node, dst_node, orr_cl_text(err));
		return ret;
	}
	return event ? put_event(d, chan, event, &then) : 0;
}

static struct orr_copy_channel *if_asynchronous(struct orr_copy_channel *chan)
{
	return starpu_asynchronous_copy_disabled() || starpu_asynchronous_opencl_copy_disabled()
		       ? NULL
		       : chan;
}

static int cl_copy(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		   uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t size,
		   struct orr_copy_channel *chan)
{
	struct rows r = { .src = src,
			  .src_offset = src_offset,
			  .dst = dst,
			  .dst_offset = dst_offset,
			  .size = size,
			  .count = 1 };

	return copy_rows(proc, src_node, dst_node, &r, if_asynchronous(chan));
}

static int cl_copy2d(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		     uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t blocksize,
		     size_t numblocks, size_t ld_src, size_t ld_dst, struct orr_copy_channel *chan)
{
	struct rows r = { .src = src,
			  .src_offset = src_offset,
			  .dst = dst,
			  .dst_offset = dst_offset,
			  .size = blocksize,
			  .count = numblocks,
			  .ld_src = ld_src,
			  .ld_dst = ld_dst };
	int ret = 0;

	orr_assert(numblocks > 0 && blocksize <= ld_src && blocksize <= ld_dst);
	/* In main memory the offset is part of the address. */
	if (!is_ours(proc, src_node)) {
		r.src += src_offset;
		r.src_offset = 0;
	}
	if (!is_ours(proc, dst_node)) {
		r.dst += dst_offset;
		r.dst_offset = 0;
	}
	chan = if_asynchronous(chan);
	if (is_rectangle(&r))
		return copy_rows(proc, src_node, dst_node, &r, chan);
	r.count = 1;
	for (size_t i = 0; i < numblocks; i++) {
		int one = copy_rows(proc, src_node, dst_node, &r, chan);

		if (one && one != -EAGAIN)
			return one;
		ret = one ? one : ret;
		r.src_offset += ld_src;
		r.dst_offset += ld_dst;
	}
	return ret;
}

static void cl_memory_exit(struct orr_process *proc, unsigned memnode)
{
	proc->data->memnodes[memnode]->ops_arg = NULL;
}

const struct orr_memnode_ops orr_cl_memory = {
	.name = "OpenCL device",
	.addressable = 0,
	.alloc = cl_alloc,
	.release = cl_release,
	.copy = cl_copy,
	.copy2d = cl_copy2d,
	.stream = orr_memnode_stream_none,
	.test = cl_test,
	.wait = cl_wait,
	.map = orr_memnode_map_none,
	.pin = orr_memnode_pin_none,
	.unpin = orr_memnode_unpin_none,
	.exit = cl_memory_exit,
};
