/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Methods of the interfaces made of separate arrays, on their common view (handbook 27.9).
 *
 * The last row pointer of a piece is the first one of the piece behind it, and pieces are written
 * at the same time.
 *
 * Invariant: packed form is the arrays one after the other in the order of the view; the sizes of a
 * registered datum never change; in main memory the first and the last row pointer are written only
 * where they change, which those of a piece never do. */
#include "data/iface/iface_parts.h"
#include "data/iface/iface_dense.h"
#include "base/log.h"
#include "base/seam_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void get_csr(struct starpu_csr_interface *i, struct orr_parts *p)
{
	*p = (struct orr_parts){
		.n = 3,
		.addr = { i->nzval, (uintptr_t) i->colind, (uintptr_t) i->rowptr },
		.size = { i->nnz * i->elemsize, i->nnz * sizeof(uint32_t),
			  ((size_t) i->nrow + 1) * sizeof(uint32_t) },
		.nshape = 2,
		.shape = { i->nnz, i->nrow },
		.elemsize = i->elemsize,
	};
}

static void get_bcsr(struct starpu_bcsr_interface *i, struct orr_parts *p)
{
	*p = (struct orr_parts){
		.n = 3,
		.addr = { i->nzval, (uintptr_t) i->colind, (uintptr_t) i->rowptr },
		.size = { (size_t) i->nnz * i->r * i->c * i->elemsize, i->nnz * sizeof(uint32_t),
			  ((size_t) i->nrow + 1) * sizeof(uint32_t) },
		.nshape = 4,
		.shape = { i->nnz, i->nrow, i->r, i->c },
		.elemsize = i->elemsize,
	};
}

static void get_coo(struct starpu_coo_interface *i, struct orr_parts *p)
{
	*p = (struct orr_parts){
		.n = 3,
		.addr = { (uintptr_t) i->columns, (uintptr_t) i->rows, i->values },
		.size = { i->n_values * sizeof(uint32_t), i->n_values * sizeof(uint32_t),
			  i->n_values * i->elemsize },
		.nshape = 3,
		.shape = { i->nx, i->ny, i->n_values },
		.elemsize = i->elemsize,
	};
}

void orr_parts_get(enum starpu_data_interface_id id, void *iface, struct orr_parts *p)
{
	switch (id) {
	case STARPU_CSR_INTERFACE_ID: get_csr(iface, p); break;
	case STARPU_BCSR_INTERFACE_ID: get_bcsr(iface, p); break;
	case STARPU_COO_INTERFACE_ID: get_coo(iface, p); break;
	default: memset(p, 0, sizeof(*p));
	}
}

void orr_parts_set(enum starpu_data_interface_id id, void *iface, const uintptr_t *addr)
{
	struct starpu_csr_interface *csr = iface;
	struct starpu_bcsr_interface *bcsr = iface;
	struct starpu_coo_interface *coo = iface;

	switch (id) {
	case STARPU_CSR_INTERFACE_ID:
		csr->nzval = addr[0], csr->colind = (uint32_t *) addr[1],
		csr->rowptr = (uint32_t *) addr[2];
		break;
	case STARPU_BCSR_INTERFACE_ID:
		bcsr->nzval = addr[0], bcsr->colind = (uint32_t *) addr[1],
		bcsr->rowptr = (uint32_t *) addr[2];
		break;
	case STARPU_COO_INTERFACE_ID:
		coo->columns = (uint32_t *) addr[0], coo->rows = (uint32_t *) addr[1],
		coo->values = addr[2];
		break;
	default: break;
	}
}

/* The place where filters find the indices: in main memory, whatever node a structure describes. */
static void set_ram(enum starpu_data_interface_id id, void *iface, uint32_t *colind,
		    uint32_t *rowptr)
{
	if (id == STARPU_CSR_INTERFACE_ID) {
		((struct starpu_csr_interface *) iface)->ram_colind = colind;
		((struct starpu_csr_interface *) iface)->ram_rowptr = rowptr;
	} else if (id == STARPU_BCSR_INTERFACE_ID) {
		((struct starpu_bcsr_interface *) iface)->ram_colind = colind;
		((struct starpu_bcsr_interface *) iface)->ram_rowptr = rowptr;
	}
}

static size_t alloc_bytes(size_t size)
{
	return size ? size : 1;
}

static size_t total(const struct orr_parts *p)
{
	return p->size[0] + p->size[1] + p->size[2];
}

/* The array of row pointers among the parts. */
static int is_rows(enum starpu_data_interface_id id, unsigned part)
{
	return part == 2 && (id == STARPU_CSR_INTERFACE_ID || id == STARPU_BCSR_INTERFACE_ID);
}

starpu_ssize_t orr_parts_allocate(enum starpu_data_interface_id id, void *iface, unsigned node)
{
	struct orr_parts p;
	uintptr_t addr[ORR_PARTS_MAX] = { 0 };

	orr_parts_get(id, iface, &p);
	for (unsigned i = 0; i < p.n; i++) {
		addr[i] = starpu_malloc_on_node(node, alloc_bytes(p.size[i]));
		if (!addr[i]) {
			while (i-- > 0)
				starpu_free_on_node(node, addr[i], alloc_bytes(p.size[i]));
			return -ENOMEM;
		}
	}
	orr_parts_set(id, iface, addr);
	if (node == STARPU_MAIN_RAM) {
		set_ram(id, iface, (uint32_t *) addr[1], (uint32_t *) addr[2]);
		if (is_rows(id, 2) && orr_sys_has_payload(orr_self())) /* put_end compares */
			((uint32_t *) addr[2])[0] = ((
				uint32_t *) addr[2])[p.size[2] / sizeof(uint32_t) - 1] = 0;
	}
	return (starpu_ssize_t) total(&p);
}

void orr_parts_free(enum starpu_data_interface_id id, void *iface, unsigned node)
{
	static const uintptr_t none[ORR_PARTS_MAX];
	struct orr_parts p;

	orr_parts_get(id, iface, &p);
	for (unsigned i = 0; i < p.n; i++)
		if (p.addr[i])
			starpu_free_on_node(node, p.addr[i], alloc_bytes(p.size[i]));
	orr_parts_set(id, iface, none);
	if (node == STARPU_MAIN_RAM)
		set_ram(id, iface, NULL, NULL);
}

void orr_parts_detach(enum starpu_data_interface_id id, void *iface)
{
	static const uintptr_t none[ORR_PARTS_MAX];

	orr_parts_set(id, iface, none);
}

void orr_parts_cache(enum starpu_data_interface_id id, void *cached, void *src)
{
	memcpy(cached, src, orr_iface_ops(id)->interface_size);
	orr_parts_detach(id, src);
}

void orr_parts_reuse(enum starpu_data_interface_id id, void *dst, const void *cached)
{
	struct orr_parts p;

	orr_parts_get(id, (void *) cached, &p);
	orr_parts_set(id, dst, p.addr);
}

int orr_parts_map(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		  unsigned dst_node)
{
	uintptr_t addr[ORR_PARTS_MAX] = { 0 };
	struct orr_parts s;
	int ret = orr_parts_compare(id, dst, src) ? 0 : -EOPNOTSUPP;
	unsigned i = 0;

	orr_parts_get(id, src, &s);
	for (; i < s.n && !ret; i++)
		addr[i] = starpu_interface_map(s.addr[i], 0, src_node, dst_node, s.size[i], &ret);
	if (!ret)
		orr_parts_set(id, dst, addr);
	else if (i > 0)
		for (i--; i-- > 0;)
			starpu_interface_unmap(s.addr[i], 0, src_node, addr[i], dst_node,
					       s.size[i]);
	return ret;
}

int orr_parts_unmap(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		    unsigned dst_node)
{
	static const uintptr_t none[ORR_PARTS_MAX];
	struct orr_parts s, d;
	int ret = 0;

	orr_parts_get(id, src, &s);
	orr_parts_get(id, dst, &d);
	for (unsigned i = 0; i < s.n && !ret; i++)
		ret = starpu_interface_unmap(s.addr[i], 0, src_node, d.addr[i], dst_node,
					     s.size[i]);
	if (!ret)
		orr_parts_set(id, dst, none);
	return ret;
}

int orr_parts_update_map(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
			 unsigned dst_node)
{
	struct orr_parts s, d;
	int ret = 0;

	orr_parts_get(id, src, &s);
	orr_parts_get(id, dst, &d);
	for (unsigned i = 0; i < s.n && !ret; i++)
		ret = starpu_interface_update_map(s.addr[i], 0, src_node, d.addr[i], 0, dst_node,
						  s.size[i]);
	return ret;
}

int orr_parts_compare(enum starpu_data_interface_id id, void *a, void *b)
{
	struct orr_parts x, y;

	orr_parts_get(id, a, &x);
	orr_parts_get(id, b, &y);
	return x.elemsize == y.elemsize && !memcmp(x.shape, y.shape, sizeof(x.shape));
}

int orr_parts_follow(enum starpu_data_interface_id id, void *dst, void *src)
{
	struct orr_parts p;

	if (orr_parts_compare(id, dst, src))
		return 0;
	orr_parts_get(id, dst, &p);
	for (unsigned i = 0; i < p.n; i++)
		if (p.addr[i])
			return -ENOSPC;
	memcpy(dst, src, orr_iface_ops(id)->interface_size);
	orr_parts_detach(id, dst);
	return 0;
}

static void put_end(uint32_t *dst, const char *src)
{
	uint32_t value;

	memcpy(&value, src, sizeof(value));
	if (ORR_ATOMIC_LOAD_RELAXED(dst) != value)
		ORR_ATOMIC_STORE_RELAXED(dst, value);
}

/* Row pointers into main memory; src need not be aligned. */
static void put_rows(uint32_t *dst, const char *src, size_t bytes)
{
	size_t last = bytes / sizeof(*dst) - 1;

	put_end(dst, src);
	put_end(dst + last, src + last * sizeof(*dst));
	if (last > 1)
		memcpy(dst + 1, src + sizeof(*dst), (last - 1) * sizeof(*dst));
}

/* From another node, by way of a buffer, and at once: they are few. */
static int fetch_rows(uintptr_t src, unsigned src_node, uintptr_t dst, size_t bytes)
{
	char *buf = malloc(bytes);

	if (!buf)
		return -ENOMEM;
	int ret = starpu_interface_copy(src, 0, src_node, (uintptr_t) buf, 0, STARPU_MAIN_RAM,
					bytes, NULL);
	if (!ret)
		put_rows((uint32_t *) dst, buf, bytes);
	free(buf);
	return ret;
}

static int copy_part(enum starpu_data_interface_id id, unsigned part, uintptr_t src,
		     unsigned src_node, uintptr_t dst, unsigned dst_node, size_t size,
		     void *async_data)
{
	if (is_rows(id, part) && dst_node == STARPU_MAIN_RAM && orr_sys_has_payload(orr_self()))
		return fetch_rows(src, src_node, dst, size);
	return starpu_interface_copy(src, 0, src_node, dst, 0, dst_node, size, async_data);
}

int orr_parts_copy(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		   unsigned dst_node, void *async_data)
{
	struct orr_parts s, d;
	int ret = orr_parts_follow(id, dst, src);

	if (ret) {
		orr_error(
			"%s interface: the copy on memory node %u cannot hold the size that a task gave it on node %u; allocate it again",
			orr_iface_ops(id)->name, dst_node, src_node);
		return ret;
	}
	orr_parts_get(id, src, &s);
	orr_parts_get(id, dst, &d);
	for (unsigned i = 0; i < s.n; i++) {
		int r = copy_part(id, i, s.addr[i], src_node, d.addr[i], dst_node, s.size[i],
				  async_data);

		if (r && r != -EAGAIN)
			return r;
		if (r)
			ret = r;
	}
	if (src_node == STARPU_MAIN_RAM)
		set_ram(id, dst, (uint32_t *) s.addr[1], (uint32_t *) s.addr[2]);
	else if (dst_node == STARPU_MAIN_RAM)
		set_ram(id, src, (uint32_t *) d.addr[1], (uint32_t *) d.addr[2]);
	return ret;
}

/* As in "csr1000x64x8": the interface, its numbers, bytes per element. */
starpu_ssize_t orr_parts_describe(enum starpu_data_interface_id id, void *iface, char *buf,
				  size_t size)
{
	struct orr_parts p;

	orr_parts_get(id, iface, &p);
	size_t n = (size_t) snprintf(buf, size, "%s", orr_iface_ops(id)->name);
	for (unsigned i = 0; i < p.nshape; i++)
		n += (size_t) snprintf(n < size ? buf + n : NULL, n < size ? size - n : 0, "%ux",
				       p.shape[i]);
	if (p.nshape)
		n += (size_t) snprintf(n < size ? buf + n : NULL, n < size ? size - n : 0, "%zu",
				       p.elemsize);
	return (starpu_ssize_t) n;
}

/* ---- methods of handles ---- */

static void main_parts(starpu_data_handle_t handle, struct orr_parts *p)
{
	orr_parts_get(orr_iface_id(handle->ops), orr_handle_iface(handle), p);
}

void orr_parts_register_handle(starpu_data_handle_t handle, int home_node, void *iface)
{
	enum starpu_data_interface_id id = orr_iface_id(handle->ops);
	void *ram = starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);
	size_t size = handle->ops->interface_size;
	struct orr_parts p;

	memcpy(ram, iface, size);
	if (size >= sizeof(id))
		memcpy(ram, &id, sizeof(id)); /* the first field of each */
	orr_parts_get(id, iface, &p);
	if (home_node == STARPU_MAIN_RAM) {
		set_ram(id, ram, (uint32_t *) p.addr[1], (uint32_t *) p.addr[2]);
		return;
	}
	set_ram(id, ram, NULL, NULL);
	if (home_node > 0)
		memcpy(starpu_data_get_interface_on_node(handle, (unsigned) home_node), ram, size);
	orr_parts_detach(id, ram);
}

size_t orr_parts_get_size(starpu_data_handle_t handle)
{
	struct orr_parts p;

	main_parts(handle, &p);
	return total(&p);
}

uint32_t orr_parts_footprint(starpu_data_handle_t handle)
{
	struct orr_parts p;
	uint32_t crc = 0;

	main_parts(handle, &p);
	for (unsigned i = 0; i < p.nshape; i++)
		crc = starpu_hash_crc32c_be(p.shape[i], crc);
	return p.nshape ? starpu_hash_crc32c_be((uint32_t) p.elemsize, crc) : 0;
}

void orr_parts_display(starpu_data_handle_t handle, FILE *f)
{
	struct orr_parts p;

	main_parts(handle, &p);
	for (unsigned i = 0; i < p.nshape; i++)
		fprintf(f, "%u\t", p.shape[i]);
	if (!p.nshape)
		fprintf(f, "void\t");
}

/* Copies between a replicate's arrays and a packed buffer on the same node. */
static int packed_copy(starpu_data_handle_t handle, unsigned node, const struct orr_parts *p,
		       uintptr_t packed, int out)
{
	size_t offset = 0;
	int ret;

	for (unsigned i = 0; i < p->n; i++) {
		if (p->size[i] && !p->addr[i]) {
			orr_error(
				"%s of %s: there is no buffer on memory node %u; acquire it there first",
				out ? "pack" : "unpack", orr_handle_name(handle), node);
			return -EINVAL;
		}
		ret = out ? starpu_interface_copy(p->addr[i], 0, node, packed, offset, node,
						  p->size[i], NULL)
		      : is_rows(orr_iface_id(handle->ops), i) && node == STARPU_MAIN_RAM
			      ? copy_part(orr_iface_id(handle->ops), i, packed + offset, node,
					  p->addr[i], node, p->size[i], NULL)
			      : starpu_interface_copy(packed, offset, node, p->addr[i], 0, node,
						      p->size[i], NULL);
		if (ret)
			return ret;
		offset += p->size[i];
	}
	return 0;
}

int orr_parts_pack(starpu_data_handle_t handle, unsigned node, void **ptr, starpu_ssize_t *count)
{
	struct orr_parts p;
	uintptr_t buf;
	int ret;

	orr_parts_get(orr_iface_id(handle->ops), starpu_data_get_interface_on_node(handle, node),
		      &p);
	if (ptr) {
		buf = total(&p) ? starpu_malloc_on_node_flags(node, total(&p), 0) : 0;
		if (!buf && total(&p))
			return -ENOMEM;
		ret = packed_copy(handle, node, &p, buf, 1);
		if (ret) {
			starpu_free_on_node_flags(node, buf, total(&p), 0);
			return ret;
		}
		*ptr = (void *) buf;
	}
	*count = (starpu_ssize_t) total(&p);
	return 0;
}

int orr_parts_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	struct orr_parts p;

	orr_parts_get(orr_iface_id(handle->ops), starpu_data_get_interface_on_node(handle, node),
		      &p);
	if (count != total(&p)) {
		orr_error("unpack of %s: %zu bytes given, its shape takes %zu",
			  orr_handle_name(handle), count, total(&p));
		return -EINVAL;
	}
	return packed_copy(handle, node, &p, (uintptr_t) ptr, 0);
}

int orr_parts_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	int ret = orr_parts_peek(handle, node, ptr, count);

	if (!ret && ptr)
		starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return ret;
}

/* ---- registration ---- */

/* Would the bytes of the values, with some room for the indices, overflow? */
static int too_large(enum starpu_data_interface_id id, const struct orr_parts *p)
{
	size_t entries = p->shape[id == STARPU_COO_INTERFACE_ID ? 2 : 0], bytes = p->elemsize;

	if (id == STARPU_BCSR_INTERFACE_ID &&
	    __builtin_mul_overflow((size_t) p->shape[2] * p->shape[3], bytes, &bytes))
		return 1;
	return __builtin_mul_overflow(bytes, entries, &bytes) || bytes > SIZE_MAX / 2;
}

void orr_parts_register(starpu_data_handle_t *handle, int home_node, void *iface,
			struct starpu_data_interface_ops *ops)
{
	struct orr_parts p;

	orr_iface_check_home(home_node, ops->name);
	orr_parts_get(ops->interfaceid, iface, &p);
	if (p.n && !p.elemsize)
		orr_fatal("registration of %s data: the size of an element is 0; give it in bytes",
			  ops->name);
	if (p.n && too_large(ops->interfaceid, &p))
		orr_fatal(
			"registration of %s data: the sizes overflow with elements of %zu bytes; nothing so large can be stored",
			ops->name, p.elemsize);
	for (unsigned i = 0; home_node >= 0 && i < p.n; i++)
		if (p.size[i] && !p.addr[i])
			orr_fatal(
				"registration of %s data: one of its arrays is NULL; give all of them, or none and home node -1",
				ops->name);
	starpu_data_register(handle, home_node, iface, ops);
}
