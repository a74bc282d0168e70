/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The n-dimensional interface: nn[i] elements along dimension i, ldn[i] elements apart
 * (handbook 27.9.6).
 *
 * Invariant: nn and ldn are meta-data in main memory, one pair per structure, whatever node the
 * structure describes; allocsize serves to free a cached allocation after they are gone. */
#include "data/iface/iface_dense.h"
#include "base/log.h"

ORR_DENSE_INTERFACE(ndim, STARPU_NDIM_INTERFACE_ID);

void starpu_ndim_data_register(starpu_data_handle_t *handleptr, int home_node, uintptr_t ptr,
			       uint32_t *ldn, uint32_t *nn, size_t ndim, size_t elemsize)
{
	struct starpu_ndim_interface n = {
		.id = STARPU_NDIM_INTERFACE_ID,
		.ptr = ptr,
		.dev_handle = ptr,
		.offset = 0,
		.nn = nn,
		.ldn = ldn,
		.ndim = ndim,
		.elemsize = elemsize,
	};

	if (ndim > ORR_DENSE_MAXDIM)
		orr_fatal(
			"registration of ndim data: %zu dimensions; at most %d are supported, merge some",
			ndim, ORR_DENSE_MAXDIM);
	if (ndim && (!nn || (!ldn && home_node >= 0)))
		orr_fatal("registration of ndim data: %s is NULL; give an array of %zu entries",
			  nn ? "ldn" : "nn", ndim);
	if (!ldn)
		n.ldn = nn; /* not read without a home */
	orr_dense_register(handleptr, home_node, &n, &starpu_interface_ndim_ops);
}

void starpu_ndim_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			      uintptr_t dev_handle, size_t offset, uint32_t *ldn)
{
	orr_iface_main(handle, STARPU_NDIM_INTERFACE_ID, __func__);
	orr_dense_ptr_register(handle, node, ptr, dev_handle, offset, ldn ? ldn + 1 : NULL);
}

static struct starpu_ndim_interface *ndim_get(starpu_data_handle_t handle, const char *caller)
{
	return orr_iface_main(handle, STARPU_NDIM_INTERFACE_ID, caller);
}

static uint32_t entry(starpu_data_handle_t handle, const uint32_t *array, size_t i,
		      const char *caller)
{
	size_t ndim = ndim_get(handle, caller)->ndim;

	if (i >= ndim)
		orr_fatal("%s: %s has no dimension %zu; it has %zu, counted from 0", caller,
			  orr_handle_name(handle), i, ndim);
	return array[i];
}

#define GETTER(TYPE, FUNCTION, FIELD) \
	ORR_IFACE_GETTER(ndim, STARPU_NDIM_INTERFACE_ID, TYPE, FUNCTION, FIELD)

GETTER(uint32_t *, starpu_ndim_get_nn, nn);
GETTER(uint32_t *, starpu_ndim_get_local_ldn, ldn);
GETTER(uintptr_t, starpu_ndim_get_local_ptr, ptr);
GETTER(size_t, starpu_ndim_get_ndim, ndim);
GETTER(size_t, starpu_ndim_get_elemsize, elemsize);

uint32_t starpu_ndim_get_ni(starpu_data_handle_t handle, size_t i)
{
	return entry(handle, ndim_get(handle, __func__)->nn, i, __func__);
}
uint32_t starpu_ndim_get_local_ldi(starpu_data_handle_t handle, size_t i)
{
	return entry(handle, ndim_get(handle, __func__)->ldn, i, __func__);
}
