/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of an interface's copy method, and copies through its packed form (handbook 27.9.4).
 *
 * Invariant: a pair of memory nodes for which an interface has no method is served by packing, or
 * refused with a message: no value is lost silently. */
#include "data/copy_method.h"
#include "data/copy.h"
#include "data/data.h"
#include "data/handle_contents.h"
#include "data/iface/iface.h"
#include "base/log.h"
#include "base/seam_memory.h"

#include <errno.h>

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

	chan->event = orr_copy_back_end(proc, src_node, dst_node)->stream(proc, chan);
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

int orr_copy_by_method(struct starpu_data_interface_ops *ops, void *src, unsigned src_node,
		       void *dst, unsigned dst_node, struct orr_copy_channel *chan)
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

int orr_copy_has_method(struct starpu_data_interface_ops *ops, unsigned src_node, unsigned dst_node)
{
	return methods_of(ops, src_node, dst_node) != NULL;
}

int orr_copy_is_possible(struct starpu_data_interface_ops *ops, void *src, unsigned src_node,
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
	       proc->data->memnodes[src_node]->ops->addressable &&
	       proc->data->memnodes[dst_node]->ops->addressable;
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

int orr_copy_packed(starpu_data_handle_t src, unsigned src_node, starpu_data_handle_t dst,
		    unsigned dst_node, void *src_iface, void *dst_iface)
{
	struct orr_process *proc = orr_self();
	starpu_ssize_t size = 0;
	void *packed = NULL;

	orr_assert_no_lock();
	if (!can_pack(proc, src, src_node, dst, dst_node)) {
		orr_error(
			"%s interface: no method copies from %s (node %u) to %s (node %u); set copy_methods->any_to_any%s",
			orr_interface_name(src->ops), kind_name(starpu_node_get_kind(src_node)),
			src_node, kind_name(starpu_node_get_kind(dst_node)), dst_node,
			proc->data->memnodes[src_node]->ops->addressable &&
					proc->data->memnodes[dst_node]->ops->addressable
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
