/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that need no hardware (ORRERY_FAKE_DEVICES): a memory of their own made of host memory, and workers of kind CUDA whose
 * "kernels" are the C functions that the program put in cuda_funcs.
 *
 * Invariant: what the device's memory holds came through this file's copies; a fresh buffer starts with bytes that no program wrote, so
 * that a copy that was forgotten shows. */
#include "drivers/device.h"

#include <stdio.h>
#include <string.h>

#define GARBAGE 0xa5
#define GARBAGE_BYTES 4096	/* of the start of a buffer: enough to notice, little to pay */

static uintptr_t fake_alloc(struct orr_node *node, unsigned memnode, size_t size, int flags)
{
	void *p = orr_sys_mem_alloc(node, size ? size : 1, 256);

	(void) memnode;
	(void) flags;
	if (p && orr_sys_has_payload(node))
		memset(p, GARBAGE, size < GARBAGE_BYTES ? size : GARBAGE_BYTES);
	return (uintptr_t) p;
}

static void fake_release(struct orr_node *node, unsigned memnode, uintptr_t addr, size_t size, int flags)
{
	(void) memnode;
	(void) flags;
	orr_sys_mem_free(node, (void *) addr, size ? size : 1);
}

static int fake_copy(struct orr_node *node, uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst, size_t dst_offset, unsigned dst_node,
		     size_t size, struct orr_copy_channel *chan)
{
	return orr_ram_ops.copy(node, src, src_offset, src_node, dst, dst_offset, dst_node, size, chan);
}

static int fake_copy2d(struct orr_node *node, uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst, size_t dst_offset,
		       unsigned dst_node, size_t blocksize, size_t numblocks, size_t ld_src, size_t ld_dst, struct orr_copy_channel *chan)
{
	return orr_ram_ops.copy2d(node, src, src_offset, src_node, dst, dst_offset, dst_node, blocksize, numblocks, ld_src, ld_dst, chan);
}

static int fake_test(struct orr_node *node, struct orr_copy_channel *chan)
{
	(void) node;
	(void) chan;
	return 1;	/* copies are over when they return */
}

static const struct orr_memnode_ops fake_memory = {
	.name = "fake device",
	.addressable = 0,
	.alloc = fake_alloc,
	.release = fake_release,
	.copy = fake_copy,
	.copy2d = fake_copy2d,
	.test = fake_test,
};

/* ---- the driver ---- */

static int fake_init(struct orr_worker *w)
{
	(void) w;
	return 0;
}

static void fake_deinit(struct orr_worker *w) { (void) w; }

static starpu_cuda_func_t function(const struct starpu_codelet *cl, unsigned i)
{
	starpu_cuda_func_t f = cl->cuda_funcs[i];

	return f || i || cl->cuda_func == STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS ? f : cl->cuda_func;
}

static int fake_start(struct orr_worker *w, struct orr_task *t)
{
	return orr_sys_kernel_start(w, t, function(t->pub->cl, t->nimpl), t->interfaces, t->pub->cl_arg);
}

static int fake_test_kernel(struct orr_worker *w, struct orr_task *t)
{
	(void) t;
	return w->end_us <= orr_sys_now_us();
}

static void fake_finish(struct orr_worker *w, struct orr_task *t) { orr_sys_kernel_end(w, t); }

static const struct orr_driver_ops fake_driver = {
	.name = "fake CUDA",
	.arch = STARPU_CUDA_WORKER,
	.init = fake_init,
	.deinit = fake_deinit,
	.start = fake_start,
	.test = fake_test_kernel,
	.finish = fake_finish,
};

unsigned orr_fake_devices(struct orr_node *node, struct orr_device *v, unsigned max)
{
	unsigned i, n = (unsigned) node->cfg.fake_devices;

	if (n > max)
		n = max;
	for (i = 0; i < n; i++) {
		v[i] = (struct orr_device) {
			.arch = STARPU_CUDA_WORKER,
			.kind = STARPU_CUDA_RAM,
			.devid = (int) i,
			.nworkers = 1,
			.pipeline = (unsigned) node->cfg.cuda_pipeline,
			.memory = orr_device_limit("CUDA", (int) i, node->cfg.limit_cuda_mem),
			.memory_ops = &fake_memory,
			.driver = &fake_driver,
		};
		snprintf(v[i].name, sizeof(v[i].name), "CUDA %u (fake)", i);
	}
	return n;
}
