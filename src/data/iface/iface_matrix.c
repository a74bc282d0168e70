/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The matrix interface: ny columns of nx elements, ld elements apart (handbook 27.1 for the sizes
 * that tasks change).
 *
 * Invariant: allocsize >= nx * ny * elemsize; ld >= nx unless there is one column. */
#include "data/iface/iface_dense.h"

ORR_DENSE_INTERFACE(matrix, STARPU_MATRIX_INTERFACE_ID);

void starpu_matrix_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t ld, uint32_t nx, uint32_t ny,
					   size_t elemsize, size_t allocsize)
{
	struct starpu_matrix_interface m = {
		.id = STARPU_MATRIX_INTERFACE_ID,
		.ptr = ptr,
		.dev_handle = ptr,
		.offset = 0,
		.nx = nx,
		.ny = ny,
		.ld = ld,
		.elemsize = elemsize,
		.allocsize = allocsize,
	};

	orr_dense_register(handle, home_node, &m, &starpu_interface_matrix_ops);
}

void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				 uint32_t ld, uint32_t nx, uint32_t ny, size_t elemsize)
{
	/* 0: as large as the value, computed where an overflow is noticed. */
	starpu_matrix_data_register_allocsize(handle, home_node, ptr, ld, nx, ny, elemsize, 0);
}

void starpu_matrix_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset, uint32_t ld)
{
	orr_iface_main(handle, STARPU_MATRIX_INTERFACE_ID, __func__);
	orr_dense_ptr_register(handle, node, ptr, dev_handle, offset, &ld);
}

#define GETTER(TYPE, FUNCTION, FIELD) \
	ORR_IFACE_GETTER(matrix, STARPU_MATRIX_INTERFACE_ID, TYPE, FUNCTION, FIELD)

GETTER(uint32_t, starpu_matrix_get_nx, nx);
GETTER(uint32_t, starpu_matrix_get_ny, ny);
GETTER(uint32_t, starpu_matrix_get_local_ld, ld);
GETTER(uintptr_t, starpu_matrix_get_local_ptr, ptr);
GETTER(size_t, starpu_matrix_get_elemsize, elemsize);
GETTER(size_t, starpu_matrix_get_allocsize, allocsize);
