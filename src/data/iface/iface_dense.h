/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The six dense interfaces (variable, vector, matrix, block, tensor, n-dimensional) seen as one: a
 * base address, n sizes and n leading dimensions. Their methods and filters are written once, on
 * this view.
 *
 * Invariant: the view points into the interface structure and is valid as long as the structure
 * stays put; element (i0, i1, ...) lies at ptr + (i0*ldn[0] + i1*ldn[1] + ...) * elemsize, and
 * ldn[0] is 1 except in n-dimensional data from which x was picked. */
#ifndef ORR_DATA_IFACE_DENSE_H
#define ORR_DATA_IFACE_DENSE_H

#include "data/datum/datum.h"
#include "data/iface/iface.h"

/* Dimensions that an n-dimensional datum may have. */
#define ORR_DENSE_MAXDIM 64

struct orr_dense {
	uintptr_t *ptr, *dev_handle;
	size_t *offset;
	size_t *alloc_field; /* the interface's allocsize, NULL when it has none */
	size_t allocsize;    /* bytes that an allocation takes */
	size_t elemsize;
	size_t ndim;
	uint32_t *nn, *ldn; /* in the interface (n-dimensional), else the buffers below */
	uint32_t nn_buf[4], ldn_buf[4];
};

void orr_dense_view(enum starpu_data_interface_id id, void *iface, struct orr_dense *d);
/* Bytes of the value itself. */
size_t orr_dense_size(const struct orr_dense *d);

/* Fills a structure of interface id from scratch: shape, pointers, allocation size. n-dimensional:
 * allocates its meta-data. The nn and ldn given are copied; ndim must be the interface's. */
void orr_dense_fill(enum starpu_data_interface_id id, void *iface, size_t elemsize, size_t ndim,
		    const uint32_t *nn, const uint32_t *ldn, uintptr_t ptr, uintptr_t dev_handle,
		    size_t offset);

/* Registration of a structure filled in by one of the starpu_*_data_register: checks home node and
 * shape (message and end of the program otherwise). */
void orr_dense_register(starpu_data_handle_t *handle, int home_node, void *iface,
			struct starpu_data_interface_ops *ops);
/* The node's structure after storing pointers in it, ld: ndim leading dimensions from y on (x's is
 * 1), or NULL. */
void orr_dense_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			    uintptr_t dev_handle, size_t offset, const uint32_t *ld);

/* Methods, of structures ... */
starpu_ssize_t orr_dense_allocate(enum starpu_data_interface_id id, void *iface, unsigned node);
void orr_dense_free(enum starpu_data_interface_id id, void *iface, unsigned node);
void orr_dense_cache(enum starpu_data_interface_id id, void *cached, void *src);
void orr_dense_reuse(enum starpu_data_interface_id id, void *dst, const void *cached);
void orr_dense_detach(enum starpu_data_interface_id id, void *iface);
/* Leading dimensions as a fresh allocation has them / as given (ndim of them). */
void orr_dense_detach_shape(enum starpu_data_interface_id id, void *iface);
void orr_dense_store_ld(enum starpu_data_interface_id id, void *iface, const uint32_t *ldn);
int orr_dense_follow(enum starpu_data_interface_id id, void *dst, void *src);
int orr_dense_copy(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		   unsigned dst_node, void *async_data);
/* Mapping: dst reaches src's buffer; ends that; makes writes visible. 0 or -errno. */
int orr_dense_map(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		  unsigned dst_node);
int orr_dense_unmap(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		    unsigned dst_node);
int orr_dense_update_map(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
			 unsigned dst_node);
int orr_dense_compare(enum starpu_data_interface_id id, void *a, void *b);
int orr_dense_alloc_compare(enum starpu_data_interface_id id, void *a, void *b);
starpu_ssize_t orr_dense_describe(enum starpu_data_interface_id id, void *iface, char *buf,
				  size_t size);
/* ... and of handles. */
void orr_dense_register_handle(starpu_data_handle_t handle, int home_node, void *iface);
/* Frees the meta-data of main memory's structure; those of other nodes' go with their replicates
 * (data/iface/iface.h). */
void orr_dense_unregister_handle(starpu_data_handle_t handle);
size_t orr_dense_get_size(starpu_data_handle_t handle);
size_t orr_dense_get_alloc_size(starpu_data_handle_t handle);
uint32_t orr_dense_footprint(starpu_data_handle_t handle);
uint32_t orr_dense_alloc_footprint(starpu_data_handle_t handle);
void orr_dense_display(starpu_data_handle_t handle, FILE *f);
int orr_dense_pack(starpu_data_handle_t handle, unsigned node, void **ptr, starpu_ssize_t *count);
int orr_dense_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);
int orr_dense_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);

/* Interface methods receive a structure without being told its type, and a program's filter may
 * leave the id field unset: so each interface has functions of its own that name the type. Defines
 * them and the interface's table of methods. */
#define ORR_DENSE_INTERFACE(NAME, ID) \
	static starpu_ssize_t NAME##_allocate(void *i, unsigned node) \
	{ \
		return orr_dense_allocate(ID, i, node); \
	} \
	static void NAME##_free(void *i, unsigned node) \
	{ \
		orr_dense_free(ID, i, node); \
	} \
	static void NAME##_cache(void *c, void *s, unsigned node) \
	{ \
		(void) node; \
		orr_dense_cache(ID, c, s); \
	} \
	static void NAME##_reuse(void *d, const void *c, unsigned node) \
	{ \
		(void) node; \
		orr_dense_reuse(ID, d, c); \
	} \
	static int NAME##_copy(void *s, unsigned sn, void *d, unsigned dn, void *async) \
	{ \
		return orr_dense_copy(ID, s, sn, d, dn, async); \
	} \
	static int NAME##_map(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_dense_map(ID, s, sn, d, dn); \
	} \
	static int NAME##_unmap(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_dense_unmap(ID, s, sn, d, dn); \
	} \
	static int NAME##_update_map(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_dense_update_map(ID, s, sn, d, dn); \
	} \
	static int NAME##_compare(void *a, void *b) \
	{ \
		return orr_dense_compare(ID, a, b); \
	} \
	static int NAME##_alloc_compare(void *a, void *b) \
	{ \
		return orr_dense_alloc_compare(ID, a, b); \
	} \
	static starpu_ssize_t NAME##_describe(void *i, char *buf, size_t size) \
	{ \
		return orr_dense_describe(ID, i, buf, size); \
	} \
	static void *NAME##_pointer(void *i, unsigned node) \
	{ \
		(void) node; \
		return (void *) ((struct starpu_##NAME##_interface *) i)->ptr; \
	} \
	static const struct starpu_data_copy_methods NAME##_copy_methods = { \
		.any_to_any = NAME##_copy \
	}; \
	struct starpu_data_interface_ops starpu_interface_##NAME##_ops = { \
		.register_data_handle = orr_dense_register_handle, \
		.unregister_data_handle = orr_dense_unregister_handle, \
		.allocate_data_on_node = NAME##_allocate, \
		.free_data_on_node = NAME##_free, \
		.cache_data_on_node = NAME##_cache, \
		.reuse_data_on_node = NAME##_reuse, \
		.map_data = NAME##_map, \
		.unmap_data = NAME##_unmap, \
		.update_map = NAME##_update_map, \
		.copy_methods = &NAME##_copy_methods, \
		.to_pointer = NAME##_pointer, \
		.get_size = orr_dense_get_size, \
		.get_alloc_size = orr_dense_get_alloc_size, \
		.get_max_size = orr_dense_get_alloc_size, \
		.footprint = orr_dense_footprint, \
		.alloc_footprint = orr_dense_alloc_footprint, \
		.compare = NAME##_compare, \
		.alloc_compare = NAME##_alloc_compare, \
		.display = orr_dense_display, \
		.describe = NAME##_describe, \
		.interfaceid = ID, \
		.interface_size = sizeof(struct starpu_##NAME##_interface), \
		.pack_data = orr_dense_pack, \
		.peek_data = orr_dense_peek, \
		.unpack_data = orr_dense_unpack, \
		.name = #NAME, \
	}

#endif
