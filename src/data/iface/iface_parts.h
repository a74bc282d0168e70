/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interfaces made of a few separate arrays (CSR, BCSR, COO; void, of none) seen as one: a list
 * of data pointers with their sizes, and the numbers that are the shape.
 *
 * Invariant: all arrays are data pointers (handbook 27.9.6): a node has all of them or none; each
 * is one contiguous allocation. */
#ifndef ORR_DATA_IFACE_PARTS_H
#define ORR_DATA_IFACE_PARTS_H

#include "data/datum/datum.h"
#include "data/iface/iface.h"

#define ORR_PARTS_MAX 3

struct orr_parts {
	unsigned n;
	uintptr_t addr[ORR_PARTS_MAX];
	size_t size[ORR_PARTS_MAX]; /* bytes */
	unsigned nshape;
	uint32_t shape[4];
	size_t elemsize;
};

void orr_parts_get(enum starpu_data_interface_id id, void *iface, struct orr_parts *p);
/* Stores the addresses (not sizes nor shape). */
void orr_parts_set(enum starpu_data_interface_id id, void *iface, const uintptr_t *addr);

/* Registration: checks as orr_dense_register does. */
void orr_parts_register(starpu_data_handle_t *handle, int home_node, void *iface,
			struct starpu_data_interface_ops *ops);

/* Methods, of structures ... */
starpu_ssize_t orr_parts_allocate(enum starpu_data_interface_id id, void *iface, unsigned node);
void orr_parts_free(enum starpu_data_interface_id id, void *iface, unsigned node);
void orr_parts_cache(enum starpu_data_interface_id id, void *cached, void *src);
void orr_parts_reuse(enum starpu_data_interface_id id, void *dst, const void *cached);
void orr_parts_detach(enum starpu_data_interface_id id, void *iface);
int orr_parts_follow(enum starpu_data_interface_id id, void *dst, void *src);
int orr_parts_copy(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		   unsigned dst_node, void *async_data);
int orr_parts_map(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		  unsigned dst_node);
int orr_parts_unmap(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
		    unsigned dst_node);
int orr_parts_update_map(enum starpu_data_interface_id id, void *src, unsigned src_node, void *dst,
			 unsigned dst_node);
int orr_parts_compare(enum starpu_data_interface_id id, void *a, void *b);
starpu_ssize_t orr_parts_describe(enum starpu_data_interface_id id, void *iface, char *buf,
				  size_t size);
/* ... and of handles. */
void orr_parts_register_handle(starpu_data_handle_t handle, int home_node, void *iface);
size_t orr_parts_get_size(starpu_data_handle_t handle);
uint32_t orr_parts_footprint(starpu_data_handle_t handle);
void orr_parts_display(starpu_data_handle_t handle, FILE *f);
int orr_parts_pack(starpu_data_handle_t handle, unsigned node, void **ptr, starpu_ssize_t *count);
int orr_parts_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);
int orr_parts_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);

/* As ORR_DENSE_INTERFACE: functions that name the type, and the table of methods. SIZE: of the
 * structure. POINTER: what to_pointer gives. */
#define ORR_PARTS_INTERFACE(NAME, ID, SIZE, POINTER) \
	static starpu_ssize_t NAME##_allocate(void *i, unsigned node) \
	{ \
		return orr_parts_allocate(ID, i, node); \
	} \
	static void NAME##_free(void *i, unsigned node) \
	{ \
		orr_parts_free(ID, i, node); \
	} \
	static void NAME##_cache(void *c, void *s, unsigned node) \
	{ \
		(void) node; \
		orr_parts_cache(ID, c, s); \
	} \
	static void NAME##_reuse(void *d, const void *c, unsigned node) \
	{ \
		(void) node; \
		orr_parts_reuse(ID, d, c); \
	} \
	static int NAME##_copy(void *s, unsigned sn, void *d, unsigned dn, void *async) \
	{ \
		return orr_parts_copy(ID, s, sn, d, dn, async); \
	} \
	static int NAME##_map(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_parts_map(ID, s, sn, d, dn); \
	} \
	static int NAME##_unmap(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_parts_unmap(ID, s, sn, d, dn); \
	} \
	static int NAME##_update_map(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_parts_update_map(ID, s, sn, d, dn); \
	} \
	static int NAME##_compare(void *a, void *b) \
	{ \
		return orr_parts_compare(ID, a, b); \
	} \
	static starpu_ssize_t NAME##_describe(void *i, char *buf, size_t size) \
	{ \
		return orr_parts_describe(ID, i, buf, size); \
	} \
	static void *NAME##_pointer(void *i, unsigned node) \
	{ \
		(void) i; \
		(void) node; \
		return POINTER; \
	} \
	static const struct starpu_data_copy_methods NAME##_copy_methods = { \
		.any_to_any = NAME##_copy \
	}; \
	struct starpu_data_interface_ops starpu_interface_##NAME##_ops = { \
		.register_data_handle = orr_parts_register_handle, \
		.allocate_data_on_node = NAME##_allocate, \
		.free_data_on_node = NAME##_free, \
		.cache_data_on_node = NAME##_cache, \
		.reuse_data_on_node = NAME##_reuse, \
		.map_data = NAME##_map, \
		.unmap_data = NAME##_unmap, \
		.update_map = NAME##_update_map, \
		.copy_methods = &NAME##_copy_methods, \
		.to_pointer = NAME##_pointer, \
		.get_size = orr_parts_get_size, \
		.get_alloc_size = orr_parts_get_size, \
		.get_max_size = orr_parts_get_size, \
		.footprint = orr_parts_footprint, \
		.alloc_footprint = orr_parts_footprint, \
		.compare = NAME##_compare, \
		.alloc_compare = NAME##_compare, \
		.display = orr_parts_display, \
		.describe = NAME##_describe, \
		.interfaceid = ID, \
		.interface_size = SIZE, \
		.pack_data = orr_parts_pack, \
		.peek_data = orr_parts_peek, \
		.unpack_data = orr_parts_unpack, \
		.name = #NAME, \
	}

#endif
