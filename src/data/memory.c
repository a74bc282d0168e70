/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers of replicates (see memory.h).
 *
 * Invariant: memnode->used counts what starpu_malloc_on_node handed out with STARPU_MALLOC_COUNT and was not given back. */
#include "data/memory.h"
#include "data/transfer.h"
#include "drivers/memnode.h"

#include <errno.h>

int orr_memory_allocate(starpu_data_handle_t h, struct orr_replicate *r)
{
	starpu_ssize_t bytes = h->ops->allocate_data_on_node(orr_replicate_iface(h, r), r->memnode);

	if (bytes < 0)
		return -ENOMEM;
	r->allocated = 1;
	r->mine = 1;
	return 0;
}

void orr_memory_release(starpu_data_handle_t h, struct orr_replicate *r)
{
	if (!r->allocated || !r->mine)
		return;
	h->ops->free_data_on_node(orr_replicate_iface(h, r), r->memnode);
	r->allocated = 0;
	r->mine = 0;
}

void orr_memory_touch(starpu_data_handle_t h, struct orr_replicate *r)
{
	(void) h;
	(void) r;
}

void orr_memory_forget(starpu_data_handle_t h, struct orr_replicate *r)
{
	(void) h;
	(void) r;
}

void orr_memory_init(struct orr_node *node)
{
	node->memnodes[STARPU_MAIN_RAM].total = node->cfg.limit_cpu_mem;
}

void orr_memory_exit(struct orr_node *node) { (void) node; }

size_t orr_memory_evict(struct orr_node *node, unsigned memnode, size_t wanted)
{
	(void) node;
	(void) memnode;
	(void) wanted;
	return 0;
}
