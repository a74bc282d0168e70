/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pinned (page-locked) main memory: devices copy from and to it by themselves, so that copies
 * overlap kernels.
 *
 * Pinning costs hundreds of microseconds per MiB. So buffers for data come from a pool: it grows in
 * slabs of equal blocks, each pinned at once, and blocks that were freed are used again. Buffers of
 * the program are pinned one by one.
 *
 * Invariant: while proc->data->pinned is not NULL, the memory node that pins lives; a block is used
 * or free, and only pinned slabs have blocks. */
#ifndef ORR_DATA_PINNED_H
#define ORR_DATA_PINNED_H

#include "base/process.h"

/* A memory node was added. The pool begins with the first one whose back end pins main memory,
 * unless STARPU_DISABLE_PINNING says no. 0 or -ENOMEM. */
int orr_pinned_begin(struct orr_process *proc, unsigned memnode);
/* Unpins all. No data are left. */
void orr_pinned_exit(struct orr_process *proc);

/* A block for data on a node of main memory. NULL: take other memory. Any thread, with locks. */
void *orr_pinned_alloc(struct orr_process *proc, unsigned memnode, size_t size, size_t align);
/* Frees a block of that size. 0: it is none of the pool's. Any thread, with locks. */
int orr_pinned_free(struct orr_process *proc, unsigned memnode, void *ptr, size_t size);

/* Pins memory of the program, whole pages. 0, or -errno of the back end: the memory stays as it
 * was. Without a device that needs it, nothing happens. Any thread. */
int orr_pinned_add(struct orr_process *proc, void *addr, size_t size);
/* Unpins it. Its size, 0: it was not pinned. */
size_t orr_pinned_drop(struct orr_process *proc, void *addr);

#endif
