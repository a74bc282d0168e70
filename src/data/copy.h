/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of bytes between memory nodes: starpu_interface_copy and its kin (handbook 27.9.4).
 *
 * Invariant: a pair of memory nodes has one back end, whichever way the copy goes. */
#ifndef ORR_DATA_COPY_H
#define ORR_DATA_COPY_H

#include "data/memnode.h"

/* The back end that serves a pair of nodes: the device's when one is main memory, else the
 * source's. NULL after a message if there is no such node. */
const struct orr_memnode_ops *orr_copy_back_end(struct orr_process *proc, unsigned src_node,
						unsigned dst_node);

#endif
