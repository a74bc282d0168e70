/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a kind of memory (main memory, a device's, a disk) can do. One table per back end; every
 * slot is filled.
 *
 * Invariant: addresses are opaque to everybody but their back end; offsets are passed beside them,
 * so that back ends without pointer arithmetic (OpenCL buffers, files) fit. */
#ifndef ORR_DRIVERS_MEMNODE_H
#define ORR_DRIVERS_MEMNODE_H

#include "core/node.h"

/* What the copies of one transfer share: async_data of the interfaces' copy methods points to it.
 */
struct orr_copy_channel {
	uint64_t bytes;    /* moved so far, by all copies of the transfer */
	unsigned src, dst; /* memory nodes */
	int pending;       /* copies started and not over (back ends with asynchronous copies) */
	void *event;       /* the back end's */
};

struct orr_memnode_ops {
	const char *name;
	int addressable; /* main memory can be read and written through its pointers by kernels of
			    the CPU */
	/* Allocates; 0 when there is no room. Called without locks. flags: STARPU_MALLOC_*. */
	uintptr_t (*alloc)(struct orr_node *node, unsigned memnode, size_t size, int flags);
	void (*release)(struct orr_node *node, unsigned memnode, uintptr_t addr, size_t size,
			int flags);
	/* Copies between this memory and main memory or a memory of the same kind. chan NULL =
	 * synchronous. Returns 0 when done, -EAGAIN when under way on chan, or another negative
	 * errno. */
	int (*copy)(struct orr_node *node, uintptr_t src, size_t src_offset, unsigned src_node,
		    uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t size,
		    struct orr_copy_channel *chan);
	/* numblocks blocks of blocksize bytes, ld_* bytes apart. */
	int (*copy2d)(struct orr_node *node, uintptr_t src, size_t src_offset, unsigned src_node,
		      uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t blocksize,
		      size_t numblocks, size_t ld_src, size_t ld_dst,
		      struct orr_copy_channel *chan);
	/* Whether what was started on chan is over: 1, or 0. */
	int (*test)(struct orr_node *node, struct orr_copy_channel *chan);
};

extern const struct orr_memnode_ops
	orr_ram_ops; /* drivers/ram.c: main memory, and devices made of host memory */

#endif
