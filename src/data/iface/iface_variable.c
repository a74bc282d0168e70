/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variable interface: one element of any size.
 *
 * Invariant: elemsize is both the size of the value and of its allocation. */
#include "data/iface/iface_dense.h"

ORR_DENSE_INTERFACE(variable, STARPU_VARIABLE_INTERFACE_ID);

void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				   size_t size)
{
	struct starpu_variable_interface v = {
		.id = STARPU_VARIABLE_INTERFACE_ID,
		.ptr = ptr,
		.dev_handle = ptr,
		.offset = 0,
		.elemsize = size,
	};

	orr_dense_register(handle, home_node, &v, &starpu_interface_variable_ops);
}

void starpu_variable_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				  uintptr_t dev_handle, size_t offset)
{
	orr_iface_main(handle, STARPU_VARIABLE_INTERFACE_ID, __func__);
	orr_dense_ptr_register(handle, node, ptr, dev_handle, offset, NULL);
}

#define GETTER(TYPE, FUNCTION, FIELD) \
	ORR_IFACE_GETTER(variable, STARPU_VARIABLE_INTERFACE_ID, TYPE, FUNCTION, FIELD)

GETTER(size_t, starpu_variable_get_elemsize, elemsize);
GETTER(uintptr_t, starpu_variable_get_local_ptr, ptr);
