/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block interface: nx by ny by nz elements, rows ldy and planes ldz elements apart.
 *
 * Invariant: the sizes never change after registration; the allocation is nx * ny * nz * elemsize
 * bytes. */
#include "data/iface/iface_dense.h"

ORR_DENSE_INTERFACE(block, STARPU_BLOCK_INTERFACE_ID);

void starpu_block_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				uint32_t ldy, uint32_t ldz, uint32_t nx, uint32_t ny, uint32_t nz,
				size_t elemsize)
{
	struct starpu_block_interface b = {
		.id = STARPU_BLOCK_INTERFACE_ID,
		.ptr = ptr,
		.dev_handle = ptr,
		.offset = 0,
		.nx = nx,
		.ny = ny,
		.nz = nz,
		.ldy = ldy,
		.ldz = ldz,
		.elemsize = elemsize,
	};

	orr_dense_register(handle, home_node, &b, &starpu_interface_block_ops);
}

void starpu_block_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			       uintptr_t dev_handle, size_t offset, uint32_t ldy, uint32_t ldz)
{
	uint32_t ld[2] = { ldy, ldz };

	orr_iface_main(handle, STARPU_BLOCK_INTERFACE_ID, __func__);
	orr_dense_ptr_register(handle, node, ptr, dev_handle, offset, ld);
}

#define GETTER(TYPE, FUNCTION, FIELD) \
	ORR_IFACE_GETTER(block, STARPU_BLOCK_INTERFACE_ID, TYPE, FUNCTION, FIELD)

GETTER(uint32_t, starpu_block_get_nx, nx);
GETTER(uint32_t, starpu_block_get_ny, ny);
GETTER(uint32_t, starpu_block_get_nz, nz);
GETTER(uint32_t, starpu_block_get_local_ldy, ldy);
GETTER(uint32_t, starpu_block_get_local_ldz, ldz);
GETTER(uintptr_t, starpu_block_get_local_ptr, ptr);
GETTER(size_t, starpu_block_get_elemsize, elemsize);
