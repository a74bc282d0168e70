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
#include "data/iface/iface_methods.h"

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

ORR_IFACE_FAMILY(parts);
void orr_parts_detach(enum starpu_data_interface_id id, void *iface);
int orr_parts_follow(enum starpu_data_interface_id id, void *dst, void *src);

/* Defines the functions and methods of an interface. SIZE: of the structure. POINTER: to_pointer's
 * answer. */
#define ORR_PARTS_INTERFACE(NAME, ID, SIZE, POINTER) \
	ORR_IFACE_METHODS(parts, NAME, ID, SIZE, POINTER, .get_alloc_size = orr_parts_get_size, \
			  .get_max_size = orr_parts_get_size, \
			  .alloc_footprint = orr_parts_footprint, .alloc_compare = NAME##_compare)

#endif
