/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies between memory nodes, from one to n dimensions, and the choice of an interface's copy
 * method (handbook 27.9.4).
 *
 * A copy of n dimensions is first simplified: dimensions that are contiguous on both sides are
 * merged, so that back ends see the longest runs there are and only ever copy one or two dimensions
 * at a time.
 *
 * Invariant: every byte that goes through here is counted on the transfer's channel, once, when its
 * copy was accepted. */
#include "data/iface/iface.h"
#include "data/data.h"
#include "data/iface/iface_dense.h"
#include "base/log.h"
#include "data/bus.h"

#include <errno.h>

/* The back end that serves a pair of nodes: the device's when one is main memory, else the
 * source's. */
static const struct orr_memnode_ops *pair_ops(struct orr_process *proc, unsigned src_node,
					      unsigned dst_node)
{
	if (src_node >= proc->data->nmemnodes || dst_node >= proc->data->nmemnodes) {
		orr_error("copy from memory node %u to %u: there are only %u nodes", src_node,
			  dst_node, proc->data->nmemnodes);
		return NULL;
	}
	return proc->data
		->memnodes[proc->data->memnodes[src_node].kind == STARPU_CPU_RAM ? dst_node
										 : src_node]
		.ops;
}

int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			  size_t dst_offset, unsigned dst_node, size_t size, void *async_data)
{
	struct orr_process *proc = orr_self();
	const struct orr_memnode_ops *ops = pair_ops(proc, src_node, dst_node);
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
	const struct orr_memnode_ops *ops = pair_ops(proc, src_node, dst_node);
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

/* ---- choosing a method ---- */

typedef int (*sync_method)(void *, unsigned, void *, unsigned);
typedef int (*stream_method)(void *, unsigned, void *, unsigned, starpu_cudaStream_t);
typedef int (*event_method)(void *, unsigned, void *, unsigned, starpu_cl_event_t *);

struct methods {
	sync_method sync;
	stream_method stream;
	event_method event;
};

static struct methods pick_methods(const struct starpu_data_copy_methods *m,
				   enum starpu_node_kind from, enum starpu_node_kind to)
{
	enum { RAM, CUDA, OPENCL, OTHER };
	int f = from == STARPU_CPU_RAM      ? RAM
		: from == STARPU_CUDA_RAM   ? CUDA
		: from == STARPU_OPENCL_RAM ? OPENCL
					    : OTHER;
	int t = to == STARPU_CPU_RAM      ? RAM
		: to == STARPU_CUDA_RAM   ? CUDA
		: to == STARPU_OPENCL_RAM ? OPENCL
					  : OTHER;

	switch (f * 4 + t) {
	case RAM * 4 + RAM: return (struct methods){ m->ram_to_ram, NULL, NULL };
	case RAM * 4 + CUDA: return (struct methods){ m->ram_to_cuda, m->ram_to_cuda_async, NULL };
	case RAM * 4 + OPENCL:
		return (struct methods){ m->ram_to_opencl, NULL, m->ram_to_opencl_async };
	case CUDA * 4 + RAM: return (struct methods){ m->cuda_to_ram, m->cuda_to_ram_async, NULL };
	case CUDA * 4 + CUDA:
		return (struct methods){ m->cuda_to_cuda, m->cuda_to_cuda_async, NULL };
	case OPENCL * 4 + RAM:
		return (struct methods){ m->opencl_to_ram, NULL, m->opencl_to_ram_async };
	case OPENCL * 4 + OPENCL:
		return (struct methods){ m->opencl_to_opencl, NULL, m->opencl_to_opencl_async };
	default: return (struct methods){ NULL, NULL, NULL };
	}
}

static const char *kind_name(enum starpu_node_kind kind)
{
	switch (kind) {
	case STARPU_CPU_RAM: return "main memory";
	case STARPU_CUDA_RAM: return "CUDA memory";
	case STARPU_OPENCL_RAM: return "OpenCL memory";
	case STARPU_DISK_RAM: return "disk";
	case STARPU_MPI_MS_RAM: return "slave memory";
	default: return "unknown memory";
	}
}

/* Of the device's copies, in the queue that the back end wants. */
static int copy_in_stream(stream_method copy, void *src, unsigned src_node, void *dst,
			  unsigned dst_node, struct orr_copy_channel *chan)
{
	struct orr_process *proc = orr_self();

	chan->event = pair_ops(proc, src_node, dst_node)->stream(proc, chan);
	return copy(src, src_node, dst, dst_node, (starpu_cudaStream_t) chan->event);
}

/* Of an interface that packs and unpacks as a built-in one does, on its structures: that one's
 * copies, which move the same bytes. NULL: there is none. */
static const struct starpu_data_copy_methods *inherited(const struct starpu_data_interface_ops *ops)
{
	const struct starpu_data_interface_ops *base = orr_iface_ops(orr_iface_id(ops));

	return base && ops->pack_data == base->pack_data && ops->peek_data == base->peek_data &&
			       ops->unpack_data == base->unpack_data
		       ? base->copy_methods
		       : NULL;
}

static int has_method(const struct starpu_data_copy_methods *m, unsigned src_node,
		      unsigned dst_node)
{
	if (!m || m->any_to_any)
		return m != NULL;
	struct methods special = pick_methods(m, starpu_node_get_kind(src_node),
					      starpu_node_get_kind(dst_node));
	return special.sync || special.stream || special.event;
}

/* The methods for a pair of memory nodes: the interface's own, else those it inherits. */
static const struct starpu_data_copy_methods *methods_of(
	const struct starpu_data_interface_ops *ops, unsigned src_node, unsigned dst_node)
{
	return has_method(ops->copy_methods, src_node, dst_node) ? ops->copy_methods
								 : inherited(ops);
}

int orr_iface_copy(struct starpu_data_interface_ops *ops, void *src, unsigned src_node, void *dst,
		   unsigned dst_node, struct orr_copy_channel *chan)
{
	const struct starpu_data_copy_methods *m = methods_of(ops, src_node, dst_node);
	enum starpu_node_kind from = starpu_node_get_kind(src_node),
			      to = starpu_node_get_kind(dst_node);
	struct methods special;

	if (m) {
		special = pick_methods(m, from, to);
		if (chan && special.stream)
			return copy_in_stream(special.stream, src, src_node, dst, dst_node, chan);
		if (chan && special.event)
			return special.event(src, src_node, dst, dst_node,
					     (starpu_cl_event_t *) &chan->event);
		if (special.sync)
			return special.sync(src, src_node, dst, dst_node);
		if (m->any_to_any)
			return m->any_to_any(src, src_node, dst, dst_node, chan);
		/* Without a channel the methods that need one still work on the device's default
		 * stream, or wait for their event. */
		if (special.stream)
			return special.stream(src, src_node, dst, dst_node,
					      (starpu_cudaStream_t) 0);
		if (special.event)
			return special.event(src, src_node, dst, dst_node, NULL);
	}
	return -ENOTSUP;
}

int orr_iface_has_method(struct starpu_data_interface_ops *ops, unsigned src_node,
			 unsigned dst_node)
{
	return methods_of(ops, src_node, dst_node) != NULL;
}

int orr_iface_can_copy(struct starpu_data_interface_ops *ops, void *src, unsigned src_node,
		       void *dst, unsigned dst_node, unsigned handling_node)
{
	const struct starpu_data_copy_methods *m = methods_of(ops, src_node, dst_node);

	return m && (!m->can_copy || m->can_copy(src, src_node, dst, dst_node, handling_node));
}

/* ---- copies through pack_data and unpack_data ---- */

static int can_pack(const struct orr_process *proc, starpu_data_handle_t src, unsigned src_node,
		    starpu_data_handle_t dst, unsigned dst_node)
{
	return src->ops->pack_data && (dst->ops->unpack_data || dst->ops->peek_data) &&
	       proc->data->memnodes[src_node].ops->addressable &&
	       proc->data->memnodes[dst_node].ops->addressable;
}

/* The packed value in memory of the node that unpacks it: it is freed there. 0: there is no room.
 */
static uintptr_t move_packed(struct orr_process *proc, uintptr_t packed, size_t size, unsigned from,
			     unsigned to)
{
	if (from == to)
		return packed;
	uintptr_t moved = starpu_malloc_on_node_flags(to, size, 0);
	if (moved)
		orr_sys_memcpy(proc, (void *) moved, (const void *) packed, size);
	starpu_free_on_node_flags(from, packed, size, 0);
	return moved;
}

int orr_iface_copy_packed(starpu_data_handle_t src, unsigned src_node, starpu_data_handle_t dst,
			  unsigned dst_node, void *src_iface, void *dst_iface)
{
	struct orr_process *proc = orr_self();
	starpu_ssize_t size = 0;
	void *packed = NULL;

	orr_assert_no_lock();
	if (!can_pack(proc, src, src_node, dst, dst_node)) {
		orr_error(
			"%s interface: no method copies from %s (node %u) to %s (node %u); set copy_methods->any_to_any%s",
			orr_iface_name(src->ops), kind_name(starpu_node_get_kind(src_node)),
			src_node, kind_name(starpu_node_get_kind(dst_node)), dst_node,
			proc->data->memnodes[src_node].ops->addressable &&
					proc->data->memnodes[dst_node].ops->addressable
				? ", or pack_data and unpack_data"
				: "");
		return -ENOTSUP;
	}
	if (!orr_sys_has_payload(proc))
		return 0;
	/* unpack_data fills a description of the right shape. */
	int ret = dst->wide ? 0 : orr_iface_follow(dst->ops, dst_iface, src_iface);
	if (!ret)
		ret = orr_handle_pack(src, src_node, &packed, &size);
	if (ret)
		return ret;
	if (size < 0 || (size && !packed))
		return -ENOMEM;
	uintptr_t moved = size ? move_packed(proc, (uintptr_t) packed, (size_t) size, src_node,
					     dst_node)
			       : (uintptr_t) packed;
	if (size && !moved)
		return -ENOMEM;
	if (dst->ops->unpack_data) /* frees what it is given */
		return orr_handle_unpack(dst, dst_node, (void *) moved, (size_t) size);
	ret = dst->ops->peek_data(dst, dst_node, (void *) moved, (size_t) size);
	starpu_free_on_node_flags(dst_node, moved, (size_t) size, 0);
	return ret;
}
