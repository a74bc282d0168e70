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
#include "data/iface/iface_methods.h"

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

ORR_IFACE_FAMILY(dense);
void orr_dense_detach(enum starpu_data_interface_id id, void *iface);
/* Leading dimensions as a fresh allocation has them / as given (ndim of them). */
void orr_dense_detach_shape(enum starpu_data_interface_id id, void *iface);
void orr_dense_store_ld(enum starpu_data_interface_id id, void *iface, const uint32_t *ldn);
int orr_dense_follow(enum starpu_data_interface_id id, void *dst, void *src);
int orr_dense_alloc_compare(enum starpu_data_interface_id id, void *a, void *b);
/* Frees the meta-data of main memory's structure; those of other nodes' go with their replicates
 * (data/iface/iface.h). */
void orr_dense_unregister_handle(starpu_data_handle_t handle);
size_t orr_dense_get_alloc_size(starpu_data_handle_t handle);
uint32_t orr_dense_alloc_footprint(starpu_data_handle_t handle);

/* Defines the functions and methods of an interface. */
#define ORR_DENSE_INTERFACE(NAME, ID) \
	static int NAME##_alloc_compare(void *a, void *b) \
	{ \
		return orr_dense_alloc_compare(ID, a, b); \
	} \
	ORR_IFACE_METHODS(dense, NAME, ID, sizeof(struct starpu_##NAME##_interface), \
			  (void *) ((struct starpu_##NAME##_interface *) i)->ptr, \
			  .unregister_data_handle = orr_dense_unregister_handle, \
			  .get_alloc_size = orr_dense_get_alloc_size, \
			  .get_max_size = orr_dense_get_alloc_size, \
			  .alloc_footprint = orr_dense_alloc_footprint, \
			  .alloc_compare = NAME##_alloc_compare)

#endif
