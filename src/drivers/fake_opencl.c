/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that need no hardware and whose memory has no pointers (ORRERY_FAKE_OPENCL): what an
 * OpenCL driver asks of interfaces and filters, tested without one (handbook 27.7). Their workers
 * call the C functions in opencl_funcs, which reach the data as such a kernel does, by dev_handle
 * and offset: with starpu_interface_copy() and its relatives.
 *
 * A handle is the address of a block of host memory, shifted beyond what is addressable, with a
 * checksum below: it cannot be dereferenced, and a handle that was computed with is found out.
 * Copies that may be asynchronous are: they are recorded, and made when somebody asks whether they
 * are over (drivers/delay.h).
 *
 * Invariant: no byte moves but within the bounds of a block that the handle of the whole block
 * names. A program may break it, by computing with handles: place() ends the program then, in every
 * build. */
#include "drivers/fake_opencl.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_kernel.h"
#include "base/seam_memory.h"
#include "data/data.h"
#include "core/task/kernel_run.h"
#include "core/task/task.h"
#include "core/worker/worker.h"
#include "drivers/delay.h"
#include "drivers/limit.h"

#include <stdio.h>
#include <string.h>

#define HEADER 64 /* before the bytes: how many there are */
#define GARBAGE 0x5a
#define GARBAGE_BYTES 4096 /* of the start of a buffer */

/* ---- handles ---- */

static uint16_t checksum(uint64_t address)
{
	return (uint16_t) ((address * 0x9e3779b97f4a7c15ULL) >> 48) | 1;
}

static uintptr_t handle_of(void *block)
{
	return (uintptr_t) block << 16 | checksum((uintptr_t) block);
}

static char *block_of(uintptr_t handle, unsigned memnode)
{
	uintptr_t address = handle >> 16;

	if (!address || (uint16_t) handle != checksum(address))
		orr_fatal(
			"0x%zx is no buffer of memory node %u: its handles cannot be computed with, add to the offset instead",
			(size_t) handle, memnode);
	return (char *) address;
}

/* The address of `size` bytes at an offset of a buffer; a handle only on memories of this kind. */
static char *place(struct orr_process *proc, unsigned memnode, uintptr_t base, size_t offset,
		   size_t size)
{
	char *block;

	if (proc->data->memnodes[memnode]->kind != STARPU_OPENCL_RAM)
		return (char *) base + offset;
	block = block_of(base, memnode);
	if (orr_sys_has_payload(proc) && offset + size > *(size_t *) (void *) block)
		orr_fatal("bytes %zu to %zu of a buffer of %zu bytes on memory node %u", offset,
			  offset + size, *(size_t *) (void *) block, memnode);
	return block + HEADER + offset;
}

static uintptr_t opencl_alloc(struct orr_process *proc, unsigned memnode, size_t size, int flags)
{
	char *block = orr_sys_mem_alloc(proc, HEADER + size, HEADER);

	(void) memnode;
	(void) flags;
	if (!block)
		return 0;
	if (orr_sys_has_payload(proc)) {
		*(size_t *) (void *) block = size;
		memset(block + HEADER, GARBAGE, size < GARBAGE_BYTES ? size : GARBAGE_BYTES);
	}
	return handle_of(block);
}

static void opencl_release(struct orr_process *proc, unsigned memnode, uintptr_t handle,
			   size_t size, int flags)
{
	char *block = block_of(handle, memnode);

	(void) flags;
	if (orr_sys_has_payload(proc) && *(size_t *) (void *) block != size)
		orr_fatal("a buffer of %zu bytes on memory node %u is given back as one of %zu",
			  *(size_t *) (void *) block, memnode, size);
	orr_sys_mem_free(proc, block, HEADER + size);
}

/* ---- copies ---- */

static int copy_blocks(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		       const struct orr_delay_blocks *b, struct orr_copy_channel *chan)
{
	int out = proc->data->memnodes[src_node]->kind == STARPU_OPENCL_RAM;

	if (starpu_asynchronous_opencl_copy_disabled())
		chan = NULL;
	return orr_delay_copy(proc, out ? src_node : dst_node, out, b, chan);
}

static int opencl_copy(struct orr_process *proc, uintptr_t src, size_t src_offset,
		       unsigned src_node, uintptr_t dst, size_t dst_offset, unsigned dst_node,
		       size_t size, struct orr_copy_channel *chan)
{
	struct orr_delay_blocks b = { .src = place(proc, src_node, src, src_offset, size),
				      .dst = place(proc, dst_node, dst, dst_offset, size),
				      .size = size,
				      .count = 1 };

	return copy_blocks(proc, src_node, dst_node, &b, chan);
}

static int opencl_copy2d(struct orr_process *proc, uintptr_t src, size_t src_offset,
			 unsigned src_node, uintptr_t dst, size_t dst_offset, unsigned dst_node,
			 size_t blocksize, size_t numblocks, size_t ld_src, size_t ld_dst,
			 struct orr_copy_channel *chan)
{
	struct orr_delay_blocks b = {
		.size = blocksize, .count = numblocks, .ld_src = ld_src, .ld_dst = ld_dst
	};

	orr_assert(numblocks > 0 && blocksize <= ld_src && blocksize <= ld_dst);
	b.src = place(proc, src_node, src, src_offset, (numblocks - 1) * ld_src + blocksize);
	b.dst = place(proc, dst_node, dst, dst_offset, (numblocks - 1) * ld_dst + blocksize);
	return copy_blocks(proc, src_node, dst_node, &b, chan);
}

static const struct orr_memnode_ops opencl_memory = {
	.name = "fake OpenCL device",
	.addressable = 0,
	.alloc = opencl_alloc,
	.release = opencl_release,
	.copy = opencl_copy,
	.copy2d = opencl_copy2d,
	.stream = orr_memnode_stream_none,
	.test = orr_delay_test,
	.wait = orr_delay_wait,
	.map = orr_memnode_map_none,
	.pin = orr_memnode_pin_none,
	.unpin = orr_memnode_unpin_none,
	.exit = orr_delay_exit,
};

/* ---- the driver ---- */

static int opencl_init(struct orr_worker *w)
{
	(void) w;
	return 0;
}

static void opencl_deinit(struct orr_worker *w)
{
	(void) w;
}

static starpu_opencl_func_t function(const struct starpu_codelet *cl, unsigned i)
{
	starpu_opencl_func_t f = cl->opencl_funcs[i];

	return f || i || cl->opencl_func == STARPU_MULTIPLE_OPENCL_IMPLEMENTATIONS
		       ? f
		       : cl->opencl_func;
}

static int asynchronous(const struct orr_task *t)
{
	return t->pub->cl->opencl_flags[t->nimpl] & STARPU_OPENCL_ASYNC;
}

static int opencl_queues(struct orr_worker *w, struct orr_task *t)
{
	return orr_delay_queues(w, asynchronous(t));
}

static enum orr_started opencl_start(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	orr_assert(orr_thread_self()->worker == w);
	return orr_delay_start(w, orr_worker_run(w, t, function(t->pub->cl, t->nimpl)),
			       asynchronous(t), l);
}

static void opencl_finish(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	(void) l;
	orr_assert(orr_thread_self()->worker == w);
	(void) t;
	orr_sys_kernel_end(w->group->proc, &w->kernel);
}

static const struct orr_driver_ops opencl_driver = {
	.name = "fake OpenCL",
	.arch = STARPU_OPENCL_WORKER,
	.init = opencl_init,
	.deinit = opencl_deinit,
	.queues = opencl_queues,
	.start = opencl_start,
	.test = orr_delay_kernel_test,
	.call = orr_driver_call_plain,
	.finish = opencl_finish,
};

unsigned orr_fake_opencl_devices(struct orr_process *proc, struct orr_device *v, unsigned max)
{
	unsigned i, n = (unsigned) proc->cfg->fake_opencl;

	if (n > max)
		n = max;
	for (i = 0; i < n; i++) {
		v[i] = (struct orr_device){
			.arch = STARPU_OPENCL_WORKER,
			.kind = STARPU_OPENCL_RAM,
			.devid = (int) i,
			.nworkers = 1,
			.pipeline = (unsigned) proc->cfg->opencl_pipeline,
			.memory = orr_limit_of_device("OPENCL", (int) i,
						      proc->cfg->limit_opencl_mem),
			.memory_ops = &opencl_memory,
			.memory_arg = orr_delay_new(proc),
			.driver = &opencl_driver,
		};
		snprintf(v[i].name, sizeof(v[i].name), "OpenCL %u (fake)", i);
	}
	return n;
}
