/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mapping of main memory's buffers to devices (see mapping.h), and the functions that interfaces
 * map with.
 *
 * Invariant: only main memory is mapped, and only to memories whose back end can do so; whatever
 * cannot be mapped gets a buffer and copies. */
#include "data/mapping.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "data/data.h"
#include "data/memnode.h"
#include "data/memory.h"

/* ---- back ends that cannot ---- */

uintptr_t orr_memnode_map_none(struct orr_process *proc, uintptr_t addr, size_t offset,
			       unsigned memnode, size_t size)
{
	(void) proc;
	(void) addr;
	(void) offset;
	(void) memnode;
	(void) size;
	return 0;
}

/* ---- replicates ---- */

/* Does main memory's buffer stay where it is, or will it if it is made now? Where main memory is
 * limited, buffers of the runtime come and go; with dontcache kernels may replace them. */
static int can_stay(const struct orr_process *proc, starpu_data_handle_t h)
{
	if (h->main.allocated && !h->main.mine)
		return 1;
	return h->home_node == -1 && !h->piece_of && !h->ops->dontcache &&
	       !orr_memory_managed(proc, STARPU_MAIN_RAM);
}

static int map(starpu_data_handle_t h, struct orr_replicate *r)
{
	if (h->ops->map_data(orr_handle_iface(h), STARPU_MAIN_RAM, orr_replicate_iface(h, r),
			     r->memnode))
		return 0;
	r->mapped = 1;
	ORR_ATOMIC_STORE(&r->allocated, 1); /* read without the lock by orr_fetch_quick */
	return 1;
}

int orr_mapping_begin(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *r)
{
	int made = !h->main.allocated;

	orr_assert_locked(&h->lock);
	orr_assert(!r->allocated && !r->mapped);
	if (proc->conf->enable_map <= 0 || !h->ops->map_data || r == &h->main ||
	    proc->data->memnodes[r->memnode]->ops->map == orr_memnode_map_none ||
	    !can_stay(proc, h) || (made && orr_memory_allocate(h, &h->main)))
		return 0;
	int ok = map(h, r);
	if (!ok && made)
		orr_memory_release(h, &h->main);
	return ok;
}

void orr_mapping_end(starpu_data_handle_t h, struct orr_replicate *r)
{
	orr_assert_locked(&h->lock);
	if (!r->mapped)
		return;
	orr_assert(r->allocated && !r->mine && !ORR_ATOMIC_LOAD(&r->refcnt));
	int ret = h->ops->unmap_data ? h->ops->unmap_data(orr_handle_iface(h), STARPU_MAIN_RAM,
							  orr_replicate_iface(h, r), r->memnode)
				     : 0;
	if (ret)
		orr_error("unmapping %s from memory node %u failed: %s", orr_handle_name(h),
			  r->memnode, strerror(-ret));
	r->mapped = 0;
	r->allocated = 0;
	ORR_ATOMIC_STORE(&r->state, ORR_INVALID);
}

int orr_mapping_in_use(starpu_data_handle_t h)
{
	orr_assert_locked(&h->lock);
	for (const struct orr_replicate *r = h->main.next; r; r = r->next)
		if (r->mapped && (ORR_ATOMIC_LOAD(&r->refcnt) || r->loading))
			return 1;
	return 0;
}

void orr_mapping_end_all(starpu_data_handle_t h)
{
	for (struct orr_replicate *r = h->main.next; r; r = r->next)
		orr_mapping_end(h, r);
}

/* One of the two is main memory. */
static int update(starpu_data_handle_t h, struct orr_replicate *src, struct orr_replicate *dst)
{
	return h->ops->update_map ? h->ops->update_map(orr_replicate_iface(h, src), src->memnode,
						       orr_replicate_iface(h, dst), dst->memnode)
				  : 0;
}

int orr_mapping_update(starpu_data_handle_t h, struct orr_replicate *src, struct orr_replicate *dst)
{
	if (!src->mapped || !dst->mapped)
		return update(h, src, dst);
	/* Two devices meet in main memory. */
	int ret = update(h, src, &h->main);
	return ret ? ret : update(h, &h->main, dst);
}

unsigned starpu_data_test_if_mapped_on_node(starpu_data_handle_t handle, unsigned memory_node)
{
	orr_handle_must_be_known(handle, __func__);
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, memory_node);
	unsigned yes = r && r->mapped;
	orr_handle_unlock(handle);
	return yes;
}

/* ---- for interfaces ---- */

/* 0, or -EINVAL after a message: one of the two is main memory, and both exist. */
static int check_pair(const char *what, unsigned src_node, unsigned dst_node)
{
	unsigned n = orr_self()->data->nmemnodes;

	if (src_node < n && dst_node < n && src_node != dst_node &&
	    (src_node == STARPU_MAIN_RAM || dst_node == STARPU_MAIN_RAM))
		return 0;
	orr_error("%s: memory nodes %u and %u; one must be main memory (%u), the other another one",
		  what, src_node, dst_node, STARPU_MAIN_RAM);
	return -EINVAL;
}

uintptr_t starpu_interface_map(uintptr_t src, size_t src_offset, unsigned src_node,
			       unsigned dst_node, size_t size, int *ret)
{
	struct orr_process *proc = orr_self();
	uintptr_t addr = 0;
	int err = check_pair(__func__, src_node, dst_node);

	if (!err && src_node != STARPU_MAIN_RAM)
		err = -EOPNOTSUPP;
	if (!err)
		addr = proc->data->memnodes[dst_node]->ops->map(proc, src, src_offset, dst_node,
								size);
	if (!err && !addr)
		err = -EOPNOTSUPP;
	if (ret)
		*ret = err;
	return addr;
}

int starpu_interface_unmap(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			   unsigned dst_node, size_t size)
{
	int ret = check_pair(__func__, src_node, dst_node);

	(void) size;
	if (ret)
		return ret;
	if (src_node == STARPU_MAIN_RAM && dst == src + src_offset)
		return 0; /* the memories that can be mapped to today share their addresses */
	orr_error("starpu_interface_unmap: memory node %u does not map that address", dst_node);
	return -EINVAL;
}

int starpu_interface_update_map(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
				size_t dst_offset, unsigned dst_node, size_t size)
{
	int ret = check_pair(__func__, src_node, dst_node);

	(void) size;
	if (ret)
		return ret;
	if (src + src_offset == dst + dst_offset)
		return 0; /* one buffer: what was written through either is seen through both */
	orr_error(
		"starpu_interface_update_map: the buffers on memory nodes %u and %u are not maps of each other",
		src_node, dst_node);
	return -EINVAL;
}
