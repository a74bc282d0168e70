/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of bytes between memory nodes, from one to n dimensions, by the back end of the pair
 * (handbook 27.9.4).
 *
 * A copy of n dimensions is first simplified: dimensions that are contiguous on both sides are
 * merged, so that back ends see the longest runs there are and only ever copy one or two dimensions
 * at a time.
 *
 * Invariant: every byte that goes through here is counted on the transfer's channel, once, when its
 * copy was accepted. */
#include "data/copy.h"
#include "data/bus.h"
#include "data/data.h"
#include "data/iface/iface_dense.h"
#include "base/log.h"

#include <errno.h>

const struct orr_memnode_ops *orr_copy_back_end(struct orr_process *proc, unsigned src_node,
						unsigned dst_node)
{
	if (src_node >= proc->data->nmemnodes || dst_node >= proc->data->nmemnodes) {
		orr_error("copy from memory node %u to %u: there are only %u nodes", src_node,
			  dst_node, proc->data->nmemnodes);
		return NULL;
	}
	return proc->data
		->memnodes[proc->data->memnodes[src_node]->kind == STARPU_CPU_RAM ? dst_node
										  : src_node]
		->ops;
}

int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			  size_t dst_offset, unsigned dst_node, size_t size, void *async_data)
{
	struct orr_process *proc = orr_self();
	const struct orr_memnode_ops *ops = orr_copy_back_end(proc, src_node, dst_node);
	struct orr_copy_channel *chan = async_data;

	if (!ops)
		return -EINVAL;
	if (!size)
		return 0;
	int ret = ops->copy(proc, src, src_offset, src_node, dst, dst_offset, dst_node, size, chan);
	if (chan && (ret == 0 || ret == -EAGAIN))
		chan->bytes += size;
	return ret;
}

int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			    size_t dst_offset, unsigned dst_node, size_t blocksize,
			    size_t numblocks, size_t ld_src, size_t ld_dst, void *async_data)
{
	struct orr_process *proc = orr_self();
	struct orr_copy_channel *chan = async_data;

	if (numblocks <= 1 || (blocksize == ld_src && blocksize == ld_dst))
		return starpu_interface_copy(src, src_offset, src_node, dst, dst_offset, dst_node,
					     blocksize * numblocks, async_data);
	const struct orr_memnode_ops *ops = orr_copy_back_end(proc, src_node, dst_node);
	if (!ops)
		return -EINVAL;
	if (!blocksize)
		return 0;
	int ret = ops->copy2d(proc, src, src_offset, src_node, dst, dst_offset, dst_node, blocksize,
			      numblocks, ld_src, ld_dst, chan);
	if (chan && (ret == 0 || ret == -EAGAIN))
		chan->bytes += blocksize * numblocks;
	return ret;
}

/* A strided copy: blocks of `block` bytes, level[0] innermost. */
struct level {
	size_t count, src, dst;
};
struct strided {
	uintptr_t src, dst;
	unsigned src_node, dst_node;
	size_t block;
	unsigned nlevels;
	int empty;
	struct level level[ORR_DENSE_MAXDIM];
};

/* Adds the next outer level, merging it with what is inside where that is contiguous. */
static void add_level(struct strided *s, size_t count, size_t src, size_t dst)
{
	struct level *in = s->nlevels ? &s->level[s->nlevels - 1] : NULL;

	if (!count)
		s->empty = 1;
	if (count <= 1)
		return;
	if (!in && src == s->block && dst == s->block)
		s->block *= count;
	else if (in && src == in->count * in->src && dst == in->count * in->dst)
		in->count *= count;
	else
		s->level[s->nlevels++] = (struct level){ count, src, dst };
}

/* Copies the levels below n, at the given offsets. */
static int run_levels(const struct strided *s, unsigned n, size_t src_offset, size_t dst_offset,
		      void *async_data)
{
	int ret = 0;

	if (n == 0)
		return starpu_interface_copy(s->src, src_offset, s->src_node, s->dst, dst_offset,
					     s->dst_node, s->block, async_data);
	if (n == 1)
		return starpu_interface_copy2d(s->src, src_offset, s->src_node, s->dst, dst_offset,
					       s->dst_node, s->block, s->level[0].count,
					       s->level[0].src, s->level[0].dst, async_data);
	for (size_t i = 0; i < s->level[n - 1].count; i++) {
		int r = run_levels(s, n - 1, src_offset + i * s->level[n - 1].src,
				   dst_offset + i * s->level[n - 1].dst, async_data);

		if (r && r != -EAGAIN)
			return r;
		if (r)
			ret = r;
	}
	return ret;
}

static int run(const struct strided *s, size_t src_offset, size_t dst_offset, void *async_data)
{
	return s->empty || !s->block
		       ? 0
		       : run_levels(s, s->nlevels, src_offset, dst_offset, async_data);
}

static void start(struct strided *s, uintptr_t src, unsigned src_node, uintptr_t dst,
		  unsigned dst_node, size_t block)
{
	s->src = src;
	s->src_node = src_node;
	s->dst = dst;
	s->dst_node = dst_node;
	s->block = block;
	s->nlevels = 0;
	s->empty = 0;
}

int starpu_interface_copy3d(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			    size_t dst_offset, unsigned dst_node, size_t blocksize,
			    size_t numblocks1, size_t ld1_src, size_t ld1_dst, size_t numblocks2,
			    size_t ld2_src, size_t ld2_dst, void *async_data)
{
	struct strided s;

	start(&s, src, src_node, dst, dst_node, blocksize);
	add_level(&s, numblocks1, ld1_src, ld1_dst);
	add_level(&s, numblocks2, ld2_src, ld2_dst);
	return run(&s, src_offset, dst_offset, async_data);
}

int starpu_interface_copy4d(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			    size_t dst_offset, unsigned dst_node, size_t blocksize,
			    size_t numblocks1, size_t ld1_src, size_t ld1_dst, size_t numblocks2,
			    size_t ld2_src, size_t ld2_dst, size_t numblocks3, size_t ld3_src,
			    size_t ld3_dst, void *async_data)
{
	struct strided s;

	start(&s, src, src_node, dst, dst_node, blocksize);
	add_level(&s, numblocks1, ld1_src, ld1_dst);
	add_level(&s, numblocks2, ld2_src, ld2_dst);
	add_level(&s, numblocks3, ld3_src, ld3_dst);
	return run(&s, src_offset, dst_offset, async_data);
}

int starpu_interface_copynd(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			    size_t dst_offset, unsigned dst_node, size_t elemsize, size_t ndim,
			    uint32_t *nn, uint32_t *ldn_src, uint32_t *ldn_dst, void *async_data)
{
	struct strided s;

	if (ndim > ORR_DENSE_MAXDIM) {
		orr_error("copy of %zu dimensions: at most %d are supported, merge some", ndim,
			  ORR_DENSE_MAXDIM);
		return -EINVAL;
	}
	start(&s, src, src_node, dst, dst_node, elemsize);
	for (size_t i = 0; i < ndim; i++)
		add_level(&s, nn[i], ldn_src[i] * elemsize, ldn_dst[i] * elemsize);
	return run(&s, src_offset, dst_offset, async_data);
}

/* ---- copy methods that call a device's library themselves ---- */

void starpu_interface_data_copy(unsigned src_node, unsigned dst_node, size_t size)
{
	struct orr_process *proc = orr_self();

	if (src_node >= proc->data->nmemnodes || dst_node >= proc->data->nmemnodes ||
	    src_node == dst_node)
		return;
	orr_bus_count(proc, src_node, dst_node, size);
}

void starpu_interface_start_driver_copy_async(unsigned src_node, unsigned dst_node,
					      double *start_us)
{
	(void) src_node;
	(void) dst_node;
	*start_us = orr_sys_now_us();
}

/* Starting an asynchronous copy is quick; when it was not, the device copied synchronously, most
 * often for want of pinning (27.2). */
void starpu_interface_end_driver_copy_async(unsigned src_node, unsigned dst_node, double start_us)
{
	double us = orr_sys_now_us() - start_us;

	if (us > 100e3)
		orr_warn(
			"starting an asynchronous copy from memory node %u to %u took %.0f ms: is the buffer pinned (starpu_malloc, starpu_memory_pin)?",
			src_node, dst_node, us / 1e3);
}
