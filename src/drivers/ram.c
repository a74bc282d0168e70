/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Main memory as a memory node; also the memory of devices made of host memory.
 *
 * Invariant: copies are over when they return, so that there is nothing to assert in ram_test. */
#include "data/memnode.h"
#include "data/malloc.h"
#include "base/seam_memory.h"

static uintptr_t ram_alloc(struct orr_process *proc, unsigned memnode, size_t size, int flags)
{
	(void) flags;
	return (uintptr_t) orr_malloc_hooked(proc, memnode, size, flags);
}

static void ram_release(struct orr_process *proc, unsigned memnode, uintptr_t addr, size_t size,
			int flags)
{
	orr_free_hooked(proc, memnode, (void *) addr, size, flags);
}

static int ram_copy(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		    uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t size,
		    struct orr_copy_channel *chan)
{
	(void) src_node;
	(void) dst_node;
	(void) chan;
	orr_sys_memcpy(proc, (char *) dst + dst_offset, (const char *) src + src_offset, size);
	return 0;
}

static int ram_copy2d(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		      uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t blocksize,
		      size_t numblocks, size_t ld_src, size_t ld_dst, struct orr_copy_channel *chan)
{
	(void) src_node;
	(void) dst_node;
	(void) chan;
	for (size_t i = 0; i < numblocks; i++)
		orr_sys_memcpy(proc, (char *) dst + dst_offset + i * ld_dst,
			       (const char *) src + src_offset + i * ld_src, blocksize);
	return 0;
}

static int ram_test(struct orr_process *proc, struct orr_copy_channel *chan)
{
	(void) proc;
	(void) chan;
	return 1;
}

const struct orr_memnode_ops orr_ram_ops = {
	.name = "RAM",
	.addressable = 1,
	.alloc = ram_alloc,
	.release = ram_release,
	.copy = ram_copy,
	.copy2d = ram_copy2d,
	.stream = orr_memnode_stream_none,
	.test = ram_test,
	.wait = orr_memnode_wait_none,
	.map = orr_memnode_map_none,
	.pin = orr_memnode_pin_none,
	.unpin = orr_memnode_unpin_none,
	.exit = orr_memnode_exit_none,
};
