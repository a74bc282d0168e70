/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of memory nodes: how they come and go.
 *
 * Invariant: numbers of memory nodes are given out in order and never again while the runtime is
 * up.
 */
#ifndef ORR_DATA_NODES_H
#define ORR_DATA_NODES_H

#include "data/memnode.h"

/* The table of a process that has had no memory node yet. */
#define ORR_MEMNODES_NONE \
	{ \
		[0 ... STARPU_MAXNODES - 1] = &orr_memnode_none \
	}

/* Adds a memory node; its number, -ENOSPC or -ENOMEM. */
int orr_memory_add_node(struct orr_process *proc, enum starpu_node_kind kind, int devid,
			const struct orr_memnode_ops *ops, void *arg, size_t total);
/* Frees caches. */
void orr_memory_exit(struct orr_process *proc);
/* Before the first node of a start: those of the start before are empty. */
void orr_memnodes_clear(struct orr_process *proc);
/* The process ends. */
void orr_memnodes_free(struct orr_process *proc);

#endif
