/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vector interface: nx contiguous elements in an allocation that may be larger (handbook 27.1).
 *
 * Invariant: allocsize >= nx * elemsize; only a task may change nx, within allocsize, or replace
 * the allocation. */
#include "data/iface/iface_dense.h"

ORR_DENSE_INTERFACE(vector, STARPU_VECTOR_INTERFACE_ID);

void starpu_vector_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t nx, size_t elemsize,
					   size_t allocsize)
{
	struct starpu_vector_interface v = {
		.id = STARPU_VECTOR_INTERFACE_ID,
		.ptr = ptr,
		.dev_handle = ptr,
		.offset = 0,
		.nx = nx,
		.elemsize = elemsize,
		.allocsize = allocsize,
	};

	orr_dense_register(handle, home_node, &v, &starpu_interface_vector_ops);
}

void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				 uint32_t nx, size_t elemsize)
{
	/* 0: as large as the value, computed where an overflow is noticed. */
	starpu_vector_data_register_allocsize(handle, home_node, ptr, nx, elemsize, 0);
}

void starpu_vector_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset)
{
	orr_iface_main(handle, STARPU_VECTOR_INTERFACE_ID, __func__);
	orr_dense_ptr_register(handle, node, ptr, dev_handle, offset, NULL);
}

#define GETTER(TYPE, FUNCTION, FIELD) \
	ORR_IFACE_GETTER(vector, STARPU_VECTOR_INTERFACE_ID, TYPE, FUNCTION, FIELD)

GETTER(uint32_t, starpu_vector_get_nx, nx);
GETTER(size_t, starpu_vector_get_elemsize, elemsize);
GETTER(size_t, starpu_vector_get_allocsize, allocsize);
GETTER(uintptr_t, starpu_vector_get_local_ptr, ptr);
