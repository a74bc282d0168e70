/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tensor interface: nx by ny by nz by nt elements, leading dimensions ldy, ldz and ldt in
 * elements.
 *
 * Invariant: the sizes never change after registration; the allocation is nx * ny * nz * nt *
 * elemsize bytes. */
#include "data/iface/iface_dense.h"

ORR_DENSE_INTERFACE(tensor, STARPU_TENSOR_INTERFACE_ID);

void starpu_tensor_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				 uint32_t ldy, uint32_t ldz, uint32_t ldt, uint32_t nx, uint32_t ny,
				 uint32_t nz, uint32_t nt, size_t elemsize)
{
	struct starpu_tensor_interface t = {
		.id = STARPU_TENSOR_INTERFACE_ID,
		.ptr = ptr,
		.dev_handle = ptr,
		.offset = 0,
		.nx = nx,
		.ny = ny,
		.nz = nz,
		.nt = nt,
		.ldy = ldy,
		.ldz = ldz,
		.ldt = ldt,
		.elemsize = elemsize,
	};

	orr_dense_register(handle, home_node, &t, &starpu_interface_tensor_ops);
}

void starpu_tensor_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset, uint32_t ldy, uint32_t ldz,
				uint32_t ldt)
{
	uint32_t ld[3] = { ldy, ldz, ldt };

	orr_iface_main(handle, STARPU_TENSOR_INTERFACE_ID, __func__);
	orr_dense_ptr_register(handle, node, ptr, dev_handle, offset, ld);
}

#define GETTER(TYPE, FUNCTION, FIELD) \
	ORR_IFACE_GETTER(tensor, STARPU_TENSOR_INTERFACE_ID, TYPE, FUNCTION, FIELD)

GETTER(uint32_t, starpu_tensor_get_nx, nx);
GETTER(uint32_t, starpu_tensor_get_ny, ny);
GETTER(uint32_t, starpu_tensor_get_nz, nz);
GETTER(uint32_t, starpu_tensor_get_nt, nt);
GETTER(uint32_t, starpu_tensor_get_local_ldy, ldy);
GETTER(uint32_t, starpu_tensor_get_local_ldz, ldz);
GETTER(uint32_t, starpu_tensor_get_local_ldt, ldt);
GETTER(uintptr_t, starpu_tensor_get_local_ptr, ptr);
GETTER(size_t, starpu_tensor_get_elemsize, elemsize);
