/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Disks as memory nodes (out of core). */
#ifndef ORR_DATA_DISK_H
#define ORR_DATA_DISK_H

#include "data/handle.h"

/* Registers the disk that main memory overflows to (STARPU_DISK_SWAP), if any. 0 or -errno after a
 * message. */
int orr_disk_swap_init(struct orr_process *proc);
/* Says that the disk has no room for `size` bytes more; the first time. */
void orr_disk_tell_full(struct orr_process *proc, unsigned memnode, size_t size);
/* True if it had none the last time. */
int orr_disk_is_full(struct orr_process *proc, unsigned memnode);
/* Copies between main memory and a disk for interfaces without copy method: the disk's object,
 * which to_pointer names, then has what pack_data gives. Without locks. Returns 0, or -errno after
 * a message: -ENOTSUP if an operation is missing. */
int orr_disk_copy_packed(struct orr_process *proc, starpu_data_handle_t h, unsigned src_node,
			 unsigned dst_node);
/* Closes all disks, once nothing uses them. */
void orr_disk_exit(struct orr_process *proc);

#endif
