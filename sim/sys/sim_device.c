/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPUs of a simulated machine: memory nodes and workers of kind CUDA, as many as bus/HOST.config announces.
 *
 * A device's memory is host memory that is only reached through copies, so that a copy that was forgotten shows in results. A kernel
 * takes the time that its model tells for this device; what computes its result is the codelet's function for the CPU (a function for
 * CUDA that was compiled without the vendor's compiler is a C function, and serves when there is none for the CPU).
 * Invariant: the end of a kernel does not depend on which function computed it. */
#include <stdio.h>
#include <string.h>
#include "sim.h"
#include "drivers/device.h"

#define GARBAGE 0xa5
#define GARBAGE_BYTES 4096		/* of the start of a buffer */
#define DEFAULT_MEMORY ((size_t) 3 << 30)
#define LOWEST_FUNCTION 4096		/* programs mark codelets as executable with small numbers in place of functions */

static uintptr_t device_alloc(struct orr_node *node, unsigned memnode, size_t size, int flags)
{
	(void) flags;
	void *p = orr_sys_mem_alloc(node, size ? size : 1, 256);
	if (!p)
		return 0;
	orr_sim_bus_alloc(node->sys, memnode);
	if (orr_sys_has_payload(node))
		memset(p, GARBAGE, size < GARBAGE_BYTES ? size : GARBAGE_BYTES);
	return (uintptr_t) p;
}

static void device_release(struct orr_node *node, unsigned memnode, uintptr_t addr, size_t size, int flags)
{
	(void) memnode;
	(void) flags;
	orr_sys_mem_free(node, (void *) addr, size ? size : 1);
}

static int device_copy(struct orr_node *node, uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst, size_t dst_offset,
		       unsigned dst_node, size_t size, struct orr_copy_channel *chan)
{
	return orr_ram_ops.copy(node, src, src_offset, src_node, dst, dst_offset, dst_node, size, chan);
}

static int device_copy2d(struct orr_node *node, uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst, size_t dst_offset,
			 unsigned dst_node, size_t blocksize, size_t numblocks, size_t ld_src, size_t ld_dst, struct orr_copy_channel *chan)
{
	return orr_ram_ops.copy2d(node, src, src_offset, src_node, dst, dst_offset, dst_node, blocksize, numblocks, ld_src, ld_dst, chan);
}

/* The payload is there when copy returns; the time that it takes is told by orr_sys_copy_end_us. */
static int device_test(struct orr_node *node, struct orr_copy_channel *chan)
{
	(void) node;
	(void) chan;
	return 1;
}

static const struct orr_memnode_ops device_memory = {
	.name = "simulated device",
	.addressable = 0,
	.alloc = device_alloc,
	.release = device_release,
	.copy = device_copy,
	.copy2d = device_copy2d,
	.test = device_test,
};

/* ---- the driver ---- */

static int device_init(struct orr_worker *w)
{
	(void) w;
	return 0;
}

static void device_deinit(struct orr_worker *w)
{
	(void) w;
}

typedef void (*kernel)(void **, void *);

static kernel function_of(const struct starpu_codelet *cl, unsigned impl)
{
	kernel f = orr_codelet_cpu_func(cl, impl);
	if (!f)
		f = orr_codelet_cpu_func(cl, 0);
	if (!f)
		f = cl->cuda_funcs[impl] || impl ? cl->cuda_funcs[impl] : cl->cuda_func;
	return (uintptr_t) f < LOWEST_FUNCTION ? NULL : f;
}

static int device_start(struct orr_worker *w, struct orr_task *t)
{
	return orr_sys_kernel_start(w, t, function_of(t->pub->cl, t->nimpl), t->interfaces, t->pub->cl_arg);
}

static int device_test_kernel(struct orr_worker *w, struct orr_task *t)
{
	(void) t;
	return w->end_us <= orr_sys_now_us();
}

static void device_finish(struct orr_worker *w, struct orr_task *t)
{
	orr_sys_kernel_end(w, t);
}

static const struct orr_driver_ops device_driver = {
	.name = "simulated CUDA",
	.arch = STARPU_CUDA_WORKER,
	.init = device_init,
	.deinit = device_deinit,
	.start = device_start,
	.test = device_test_kernel,
	.finish = device_finish,
};

/* The memory that the machine has, or less when the environment says so. */
static size_t memory_of(const struct orr_node *node, const struct orr_machine *m, unsigned i)
{
	size_t has = m->memory && m->memory[i] ? m->memory[i] : DEFAULT_MEMORY, limit = orr_device_limit("CUDA", (int) i, node->cfg.limit_cuda_mem);
	return limit && (limit < has || !m->memory || !m->memory[i]) ? limit : has;
}

int orr_sys_devices(struct orr_node *node, struct orr_device *v, unsigned max)
{
	struct orr_sim_rank *r = node->sys;
	unsigned n = r->machine ? r->machine->ncuda : 0;
	node->stand_in = 0;
	if (!n && node->topo.nnuma < 2)
		return 0;
	int ret = orr_perf_set_machine(node, r->machine);
	if (ret)
		return ret;
	if (n > max)
		n = max;
	if (!n)
		return 0;
	ret = orr_sim_bus_init(r);
	if (ret)
		return ret;
	node->stand_in = orr_sim.cuda_from_model;
	for (unsigned i = 0; i < n; i++) {
		v[i] = (struct orr_device) {
			.arch = STARPU_CUDA_WORKER,
			.kind = STARPU_CUDA_RAM,
			.devid = (int) i,
			.nworkers = 1,
			.pipeline = (unsigned) node->cfg.cuda_pipeline,
			.memory = memory_of(node, r->machine, i),
			.memory_ops = &device_memory,
			.driver = &device_driver,
		};
		snprintf(v[i].name, sizeof(v[i].name), "CUDA %u", i);
	}
	return (int) n;
}
