/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods that the interfaces of a family share: "dense" (iface_dense.h), or "parts"
 * (iface_parts.h).
 *
 * Interface methods receive a structure without being told its type, and a program's filter may
 * leave the id field unset: so each interface has functions of its own that name the type, and the
 * family's functions do the work.
 *
 * Invariant: a method of an interface does nothing but call the family's. */
#ifndef ORR_DATA_IFACE_METHODS_H
#define ORR_DATA_IFACE_METHODS_H

#include "base/process.h"

/* Declares the methods of a family: of structures (allocate to describe), and of handles. A buffer
 * that is mapped reaches another node's: map begins that, unmap ends it, update_map makes writes
 * visible. 0 or -errno. */
#define ORR_IFACE_FAMILY(FAMILY) \
	starpu_ssize_t orr_##FAMILY##_allocate(enum starpu_data_interface_id id, void *iface, \
					       unsigned node); \
	void orr_##FAMILY##_free(enum starpu_data_interface_id id, void *iface, unsigned node); \
	void orr_##FAMILY##_cache(enum starpu_data_interface_id id, void *cached, void *src); \
	void orr_##FAMILY##_reuse(enum starpu_data_interface_id id, void *dst, \
				  const void *cached); \
	int orr_##FAMILY##_copy(enum starpu_data_interface_id id, void *src, unsigned src_node, \
				void *dst, unsigned dst_node, void *async_data); \
	int orr_##FAMILY##_map(enum starpu_data_interface_id id, void *src, unsigned src_node, \
			       void *dst, unsigned dst_node); \
	int orr_##FAMILY##_unmap(enum starpu_data_interface_id id, void *src, unsigned src_node, \
				 void *dst, unsigned dst_node); \
	int orr_##FAMILY##_update_map(enum starpu_data_interface_id id, void *src, \
				      unsigned src_node, void *dst, unsigned dst_node); \
	int orr_##FAMILY##_compare(enum starpu_data_interface_id id, void *a, void *b); \
	starpu_ssize_t orr_##FAMILY##_describe(enum starpu_data_interface_id id, void *iface, \
					       char *buf, size_t size); \
	void orr_##FAMILY##_register_handle(starpu_data_handle_t handle, int home_node, \
					    void *iface); \
	size_t orr_##FAMILY##_get_size(starpu_data_handle_t handle); \
	uint32_t orr_##FAMILY##_footprint(starpu_data_handle_t handle); \
	void orr_##FAMILY##_display(starpu_data_handle_t handle, FILE *f); \
	int orr_##FAMILY##_pack(starpu_data_handle_t handle, unsigned node, void **ptr, \
				starpu_ssize_t *count); \
	int orr_##FAMILY##_peek(starpu_data_handle_t handle, unsigned node, void *ptr, \
				size_t count); \
	int orr_##FAMILY##_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, \
				  size_t count)

/* Defines the functions of interface NAME and its table of methods. SIZE: of the structure.
 * POINTER: to_pointer's answer for structure i. Further arguments: the methods that the families do
 * not share. */
#define ORR_IFACE_METHODS(FAMILY, NAME, ID, SIZE, POINTER, ...) \
	static starpu_ssize_t NAME##_allocate(void *i, unsigned node) \
	{ \
		return orr_##FAMILY##_allocate(ID, i, node); \
	} \
	static void NAME##_free(void *i, unsigned node) \
	{ \
		orr_##FAMILY##_free(ID, i, node); \
	} \
	static void NAME##_cache(void *c, void *s, unsigned node) \
	{ \
		(void) node; \
		orr_##FAMILY##_cache(ID, c, s); \
	} \
	static void NAME##_reuse(void *d, const void *c, unsigned node) \
	{ \
		(void) node; \
		orr_##FAMILY##_reuse(ID, d, c); \
	} \
	static int NAME##_copy(void *s, unsigned sn, void *d, unsigned dn, void *async) \
	{ \
		return orr_##FAMILY##_copy(ID, s, sn, d, dn, async); \
	} \
	static int NAME##_map(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_##FAMILY##_map(ID, s, sn, d, dn); \
	} \
	static int NAME##_unmap(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_##FAMILY##_unmap(ID, s, sn, d, dn); \
	} \
	static int NAME##_update_map(void *s, unsigned sn, void *d, unsigned dn) \
	{ \
		return orr_##FAMILY##_update_map(ID, s, sn, d, dn); \
	} \
	static int NAME##_compare(void *a, void *b) \
	{ \
		return orr_##FAMILY##_compare(ID, a, b); \
	} \
	static starpu_ssize_t NAME##_describe(void *i, char *buf, size_t size) \
	{ \
		return orr_##FAMILY##_describe(ID, i, buf, size); \
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
		.register_data_handle = orr_##FAMILY##_register_handle, \
		.allocate_data_on_node = NAME##_allocate, \
		.free_data_on_node = NAME##_free, \
		.cache_data_on_node = NAME##_cache, \
		.reuse_data_on_node = NAME##_reuse, \
		.map_data = NAME##_map, \
		.unmap_data = NAME##_unmap, \
		.update_map = NAME##_update_map, \
		.copy_methods = &NAME##_copy_methods, \
		.to_pointer = NAME##_pointer, \
		.get_size = orr_##FAMILY##_get_size, \
		.footprint = orr_##FAMILY##_footprint, \
		.compare = NAME##_compare, \
		.display = orr_##FAMILY##_display, \
		.describe = NAME##_describe, \
		.interfaceid = ID, \
		.interface_size = SIZE, \
		.pack_data = orr_##FAMILY##_pack, \
		.peek_data = orr_##FAMILY##_peek, \
		.unpack_data = orr_##FAMILY##_unpack, \
		.name = #NAME, \
		__VA_ARGS__ \
	}

#endif
