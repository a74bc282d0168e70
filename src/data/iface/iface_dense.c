/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Methods of the six dense interfaces, on their common view (handbook 27.1, 27.7, 27.9).
 *
 * Invariant: only this file and iface_dense_shape.c know how the dense structures differ; an
 * allocation made here has packed leading dimensions, dev_handle = ptr and offset 0, and is as
 * large as the allocation size, which is what freeing it uses. */
#include "data/iface/iface_dense.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

/* Allocations of empty data take a byte, so that "has a buffer" and "has a pointer" are the same.
 */
static size_t alloc_bytes(const struct orr_dense *d)
{
	return d->allocsize ? d->allocsize : 1;
}

starpu_ssize_t orr_dense_allocate(enum starpu_data_interface_id id, void *iface, unsigned node)
{
	struct orr_dense d;

	orr_dense_view(id, iface, &d);
	uintptr_t addr = starpu_malloc_on_node(node, alloc_bytes(&d));
	if (!addr)
		return -ENOMEM;
	orr_dense_detach_shape(id, iface);
	*d.ptr = *d.dev_handle = addr;
	*d.offset = 0;
	return (starpu_ssize_t) d.allocsize;
}

void orr_dense_free(enum starpu_data_interface_id id, void *iface, unsigned node)
{
	struct orr_dense d;

	orr_dense_view(id, iface, &d);
	uintptr_t addr = *d.dev_handle ? *d.dev_handle : *d.ptr;
	if (addr)
		starpu_free_on_node(node, addr, alloc_bytes(&d));
	*d.ptr = *d.dev_handle = 0;
	*d.offset = 0;
}

/* The cached description keeps no meta-data: it may outlive the handle (27.9.6). */
void orr_dense_cache(enum starpu_data_interface_id id, void *cached, void *src)
{
	struct orr_dense d;

	memcpy(cached, src, orr_iface_ops(id)->interface_size);
	if (id == STARPU_NDIM_INTERFACE_ID) {
		struct starpu_ndim_interface *n = cached;
		n->nn = n->ldn = NULL;
		n->ndim = 0;
	}
	orr_dense_view(id, src, &d);
	*d.ptr = *d.dev_handle = 0;
	*d.offset = 0;
}

void orr_dense_reuse(enum starpu_data_interface_id id, void *dst, const void *cached)
{
	struct orr_dense d, c;

	orr_dense_view(id, dst, &d);
	orr_dense_view(id, (void *) cached, &c);
	orr_dense_detach_shape(id, dst);
	*d.ptr = *c.ptr;
	*d.dev_handle = *c.dev_handle;
	*d.offset = *c.offset;
	if (d.alloc_field)
		*d.alloc_field = c.allocsize;
}

/* The address that the copy functions get for a replicate: devices without pointer arithmetic need
 * the handle and the offset apart (27.7). */
static uintptr_t base_of(const struct orr_dense *d, unsigned node, size_t *offset)
{
	if (*d->dev_handle && starpu_node_get_kind(node) != STARPU_CPU_RAM) {
		*offset = *d->offset;
		return *d->dev_handle;
	}
	*offset = 0;
	return *d->ptr;
}

int orr_dense_copy(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		   unsigned dst_node, void *async_data)
{
	struct orr_dense s, d;
	size_t src_offset, dst_offset;
	int ret = orr_dense_follow(id, dst, src);

	if (ret) {
		orr_error(
			"%s interface: the copy on memory node %u cannot hold the size that a task gave it on node %u; allocate it again",
			orr_iface_ops(id)->name, dst_node, src_node);
		return ret;
	}
	orr_dense_view(id, src, &s);
	orr_dense_view(id, dst, &d);
	uintptr_t from = base_of(&s, src_node, &src_offset);
	uintptr_t to = base_of(&d, dst_node, &dst_offset);
	return starpu_interface_copynd(from, src_offset, src_node, to, dst_offset, dst_node,
				       s.elemsize, s.ndim, s.nn, s.ldn, d.ldn, async_data);
}

/* Bytes from the first element to the end of the last one. */
static size_t extent(const struct orr_dense *d)
{
	size_t last = 0;

	for (size_t i = 0; i < d->ndim; i++) {
		if (!d->nn[i])
			return 0;
		last += (size_t) (d->nn[i] - 1) * d->ldn[i];
	}
	return (last + 1) * d->elemsize;
}

int orr_dense_map(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		  unsigned dst_node)
{
	struct orr_dense s, d;
	int ret;

	if (!orr_dense_compare(id, dst, src))
		return -EOPNOTSUPP;
	orr_dense_view(id, src, &s);
	orr_dense_view(id, dst, &d);
	uintptr_t addr = starpu_interface_map(*s.ptr, 0, src_node, dst_node, extent(&s), &ret);
	if (ret)
		return ret;
	orr_dense_store_ld(id, dst, s.ldn);
	*d.ptr = *d.dev_handle = addr;
	*d.offset = 0;
	return 0;
}

int orr_dense_unmap(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		    unsigned dst_node)
{
	struct orr_dense s, d;

	orr_dense_view(id, src, &s);
	orr_dense_view(id, dst, &d);
	int ret = starpu_interface_unmap(*s.ptr, 0, src_node, *d.ptr, dst_node, extent(&s));
	if (ret)
		return ret;
	*d.ptr = *d.dev_handle = 0;
	orr_dense_detach_shape(id, dst);
	return 0;
}

int orr_dense_update_map(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
			 unsigned dst_node)
{
	struct orr_dense s, d;
	int ret = orr_dense_follow(id, dst, src);

	if (ret)
		return ret;
	orr_dense_view(id, src, &s);
	orr_dense_view(id, dst, &d);
	return starpu_interface_update_map(*s.ptr, 0, src_node, *d.ptr, 0, dst_node, extent(&s));
}

int orr_dense_compare(enum starpu_data_interface_id id, void *a, void *b)
{
	struct orr_dense x, y;

	orr_dense_view(id, a, &x);
	orr_dense_view(id, b, &y);
	return x.elemsize == y.elemsize && x.ndim == y.ndim &&
	       (x.ndim == 0 || !memcmp(x.nn, y.nn, x.ndim * sizeof(*x.nn)));
}

int orr_dense_alloc_compare(enum starpu_data_interface_id id, void *a, void *b)
{
	struct orr_dense x, y;

	orr_dense_view(id, a, &x);
	orr_dense_view(id, b, &y);
	return alloc_bytes(&x) == alloc_bytes(&y);
}

/* As in "M320x320x4": a letter for the interface, the sizes, bytes per element. */
starpu_ssize_t orr_dense_describe(enum starpu_data_interface_id id, void *iface, char *buf,
				  size_t size)
{
	static const char letters[] = "MBV  v   TN";
	struct orr_dense d;
	size_t n = 0;

	orr_dense_view(id, iface, &d);
	n += (size_t) snprintf(buf, size, "%c", letters[id]);
	for (size_t i = 0; i < d.ndim; i++)
		n += (size_t) snprintf(n < size ? buf + n : NULL, n < size ? size - n : 0, "%ux",
				       d.nn[i]);
	n += (size_t) snprintf(n < size ? buf + n : NULL, n < size ? size - n : 0, "%zu",
			       d.elemsize);
	return (starpu_ssize_t) n;
}

/* ---- methods of handles ---- */

static void main_view(starpu_data_handle_t handle, struct orr_dense *d)
{
	orr_dense_view(orr_iface_id(handle->ops), orr_handle_iface(handle), d);
}

void orr_dense_register_handle(starpu_data_handle_t handle, int home_node, void *iface)
{
	enum starpu_data_interface_id id = orr_iface_id(handle->ops);
	void *ram = starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);
	struct orr_dense d, out;

	orr_dense_view(id, iface, &d);
	orr_dense_fill(id, ram, d.elemsize, d.ndim, d.nn, d.ldn, *d.ptr,
		       *d.dev_handle ? *d.dev_handle : *d.ptr, *d.offset);
	orr_dense_view(id, ram, &out);
	if (out.alloc_field)
		*out.alloc_field = d.allocsize;
	if (id == STARPU_VECTOR_INTERFACE_ID)
		((struct starpu_vector_interface *) ram)->slice_base =
			((struct starpu_vector_interface *) iface)->slice_base;
	if (home_node == STARPU_MAIN_RAM)
		return;
	if (home_node > 0) {
		void *home = starpu_data_get_interface_on_node(handle, (unsigned) home_node);
		struct orr_dense h;

		/* Its meta-data, if any, are there since orr_iface_detach; the shape is main
		 * memory's. */
		orr_dense_view(id, home, &h);
		memcpy(h.ldn, d.ldn, d.ndim * sizeof(*d.ldn));
		orr_dense_store_ld(id, home, h.ldn);
		*h.ptr = *d.ptr;
		*h.dev_handle = *d.dev_handle ? *d.dev_handle : *d.ptr;
		*h.offset = *d.offset;
	}
	*out.ptr = *out.dev_handle = 0;
	*out.offset = 0;
	orr_dense_detach_shape(id, ram);
}

void orr_dense_unregister_handle(starpu_data_handle_t handle)
{
	orr_iface_free_meta(handle->ops, orr_handle_iface(handle));
}

size_t orr_dense_get_size(starpu_data_handle_t handle)
{
	struct orr_dense d;

	main_view(handle, &d);
	return orr_dense_size(&d);
}

size_t orr_dense_get_alloc_size(starpu_data_handle_t handle)
{
	struct orr_dense d;

	main_view(handle, &d);
	return d.allocsize;
}

/* CRC over the sizes, x first, then the size of an element (27.9.2). */
uint32_t orr_dense_footprint(starpu_data_handle_t handle)
{
	struct orr_dense d;
	uint32_t crc = 0;

	main_view(handle, &d);
	for (size_t i = 0; i < d.ndim; i++)
		crc = starpu_hash_crc32c_be(d.nn[i], crc);
	return starpu_hash_crc32c_be((uint32_t) d.elemsize, crc);
}

uint32_t orr_dense_alloc_footprint(starpu_data_handle_t handle)
{
	uint64_t bytes = orr_dense_get_alloc_size(handle);

	return starpu_hash_crc32c_be((uint32_t) bytes,
				     starpu_hash_crc32c_be((uint32_t) (bytes >> 32), 0));
}

void orr_dense_display(starpu_data_handle_t handle, FILE *f)
{
	struct orr_dense d;

	main_view(handle, &d);
	for (size_t i = 0; i < d.ndim; i++)
		fprintf(f, "%u\t", d.nn[i]);
	if (!d.ndim)
		fprintf(f, "%zu\t", d.elemsize);
}

/* Copies between a replicate and a packed buffer on the same node. */
static int packed_copy(starpu_data_handle_t handle, unsigned node, struct orr_dense *d,
		       uintptr_t packed, int out)
{
	uint32_t ld[ORR_DENSE_MAXDIM];
	size_t offset;
	uintptr_t base = base_of(d, node, &offset);

	if (orr_dense_size(d) == 0)
		return 0;
	if (!base) {
		orr_error("%s of %s: there is no buffer on memory node %u; acquire it there first",
			  out ? "pack" : "unpack", orr_handle_name(handle), node);
		return -EINVAL;
	}
	for (size_t i = 0; i < d->ndim; i++)
		ld[i] = i ? ld[i - 1] * d->nn[i - 1] : 1;
	if (out)
		return starpu_interface_copynd(base, offset, node, packed, 0, node, d->elemsize,
					       d->ndim, d->nn, d->ldn, ld, NULL);
	return starpu_interface_copynd(packed, 0, node, base, offset, node, d->elemsize, d->ndim,
				       d->nn, ld, d->ldn, NULL);
}

static void node_view(starpu_data_handle_t handle, unsigned node, struct orr_dense *d)
{
	orr_dense_view(orr_iface_id(handle->ops), starpu_data_get_interface_on_node(handle, node),
		       d);
}

int orr_dense_pack(starpu_data_handle_t handle, unsigned node, void **ptr, starpu_ssize_t *count)
{
	struct orr_dense d;
	uintptr_t buf;
	int ret;

	node_view(handle, node, &d);
	size_t size = orr_dense_size(&d);
	if (ptr) {
		buf = starpu_malloc_on_node_flags(node, size, 0);
		if (!buf && size)
			return -ENOMEM;
		ret = packed_copy(handle, node, &d, buf, 1);
		if (ret) {
			starpu_free_on_node_flags(node, buf, size, 0);
			return ret;
		}
		*ptr = (void *) buf;
	}
	*count = (starpu_ssize_t) size;
	return 0;
}

int orr_dense_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	struct orr_dense d;

	node_view(handle, node, &d);
	if (count != orr_dense_size(&d)) {
		orr_error("unpack of %s: %zu bytes given, its shape takes %zu",
			  orr_handle_name(handle), count, orr_dense_size(&d));
		return -EINVAL;
	}
	return packed_copy(handle, node, &d, (uintptr_t) ptr, 0);
}

int orr_dense_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	int ret = orr_dense_peek(handle, node, ptr, count);

	if (!ret)
		starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return ret;
}
