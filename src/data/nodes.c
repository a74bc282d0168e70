/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of memory nodes (see nodes.h).
 *
 * A process rarely has more memory nodes than one, and a simulated run has thousands of processes:
 * so nodes are made when they are added. They stay in the table until the process ends, because
 * threads of the program may ask for them while the runtime stops.
 *
 * Invariant: a memory node is complete before data->nmemnodes counts it; orr_memnode_none is all
 * zeros. */
#include "data/nodes.h"
#include "data/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/memory.h"
#include "data/pinned.h"
#include "data/thresholds.h"
#include "base/seam_memory.h"

struct orr_memnode orr_memnode_none;

void *orr_memnode_stream_none(struct orr_process *proc, struct orr_copy_channel *chan)
{
	(void) proc;
	(void) chan;
	return NULL;
}

void orr_memnode_wait_none(struct orr_process *proc, struct orr_copy_channel *chan)
{
	(void) proc;
	(void) chan;
}

int orr_memnode_pin_none(struct orr_process *proc, unsigned memnode, void *addr, size_t size)
{
	(void) proc;
	(void) memnode;
	(void) addr;
	(void) size;
	return -ENOSYS;
}

void orr_memnode_unpin_none(struct orr_process *proc, unsigned memnode, void *addr, size_t size)
{
	(void) proc;
	(void) memnode;
	(void) addr;
	(void) size;
}

void orr_memnode_exit_none(struct orr_process *proc, unsigned memnode)
{
	(void) proc;
	(void) memnode;
}

/* The node of that number, made if it is not there. NULL: not enough memory. */
static struct orr_memnode *made(struct orr_process *proc, unsigned i)
{
	struct orr_memnode **at = &proc->data->memnodes[i];

	if (*at == &orr_memnode_none) {
		struct orr_memnode *m = calloc(1, sizeof(*m));

		if (!m)
			return NULL;
		*at = m;
	}
	return *at;
}

int orr_memory_add_node(struct orr_process *proc, enum starpu_node_kind kind, int devid,
			const struct orr_memnode_ops *ops, void *arg, size_t total)
{
	unsigned i = proc->data->nmemnodes;
	struct orr_memnode *m = i < STARPU_MAXNODES ? made(proc, i) : NULL;
	struct orr_bus *bus = calloc(2 * i + 1, sizeof(*bus));

	if (!m || !bus) {
		free(bus);
		return i >= STARPU_MAXNODES ? -ENOSPC : -ENOMEM;
	}
	orr_assert(ops->alloc && ops->release && ops->copy && ops->copy2d && ops->test &&
		   ops->wait && ops->map && ops->pin && ops->unpin && ops->exit);
	memset(m, 0, sizeof(*m));
	m->bus = bus;
	for (unsigned k = 0; k < 2 * i; k++)
		bus[k].seen_us = proc->start_us;
	m->kind = kind;
	m->devid = devid;
	m->number = i;
	m->group = -1;
	orr_lock_init(&m->lock, ORR_RANK_MEMNODE);
	orr_lock_init(&m->prefetch_lock, ORR_RANK_PREFETCH);
	m->ops = ops;
	m->ops_arg = arg;
	m->total = total;
	orr_waitq_init(&m->freed);
	orr_thresholds_init(proc, m);
	if (total) {
		ORR_ATOMIC_STORE_RELAXED(&proc->data->limited, 1);
		orr_sys_mem_keep_none(proc);
	}
	int ret = orr_pinned_begin(proc, i);

	if (ret) {
		orr_waitq_destroy(&m->freed);
		free(bus);
		return ret;
	}
	ORR_ATOMIC_STORE(&proc->data->nmemnodes, i + 1);
	return (int) i;
}

void orr_memory_exit(struct orr_process *proc)
{
	for (unsigned i = 0; i < proc->data->nmemnodes; i++)
		orr_memory_flush_cache(proc, i, SIZE_MAX);
	orr_pinned_exit(proc);
	for (unsigned i = 0; i < proc->data->nmemnodes; i++) {
		proc->data->memnodes[i]->ops->exit(proc, i);
		orr_waitq_destroy(&proc->data->memnodes[i]->freed);
		free(proc->data->memnodes[i]->bus);
		proc->data->memnodes[i]->bus = NULL;
	}
}

void orr_memnodes_clear(struct orr_process *proc)
{
	for (unsigned i = 0; i < STARPU_MAXNODES; i++)
		if (proc->data->memnodes[i] != &orr_memnode_none)
			memset(proc->data->memnodes[i], 0, sizeof(struct orr_memnode));
}

void orr_memnodes_free(struct orr_process *proc)
{
	for (unsigned i = 0; i < STARPU_MAXNODES; i++)
		if (proc->data->memnodes[i] != &orr_memnode_none)
			free(proc->data->memnodes[i]);
}
