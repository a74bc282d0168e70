/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The BCSR interface: compressed rows of dense blocks of r rows and c columns, each block stored
 * row by row.
 *
 * Invariant: rowptr[nrow] - rowptr[0] == nnz, counted in blocks; nzval holds nnz blocks of r*c
 * elements one after the other. */
#include "data/iface/iface_dense.h"
#include "data/iface/iface_parts.h"

ORR_PARTS_INTERFACE(bcsr, STARPU_BCSR_INTERFACE_ID, sizeof(struct starpu_bcsr_interface),
		    (void *) ((struct starpu_bcsr_interface *) i)->nzval);

void starpu_bcsr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz,
			       uint32_t nrow, uintptr_t nzval, uint32_t *colind, uint32_t *rowptr,
			       uint32_t firstentry, uint32_t r, uint32_t c, size_t elemsize)
{
	struct starpu_bcsr_interface b = {
		.id = STARPU_BCSR_INTERFACE_ID,
		.nnz = nnz,
		.nrow = nrow,
		.nzval = nzval,
		.colind = colind,
		.rowptr = rowptr,
		.firstentry = firstentry,
		.r = r,
		.c = c,
		.elemsize = elemsize,
	};

	orr_parts_register(handle, home_node, &b, &starpu_interface_bcsr_ops);
}

#define GETTER(TYPE, FUNCTION, FIELD) \
	ORR_IFACE_GETTER(bcsr, STARPU_BCSR_INTERFACE_ID, TYPE, FUNCTION, FIELD)

GETTER(uint32_t, starpu_bcsr_get_nnz, nnz);
GETTER(uint32_t, starpu_bcsr_get_nrow, nrow);
GETTER(uint32_t, starpu_bcsr_get_firstentry, firstentry);
GETTER(uintptr_t, starpu_bcsr_get_local_nzval, nzval);
GETTER(uint32_t *, starpu_bcsr_get_local_colind, colind);
GETTER(uint32_t *, starpu_bcsr_get_local_rowptr, rowptr);
GETTER(uint32_t, starpu_bcsr_get_r, r);
GETTER(uint32_t, starpu_bcsr_get_c, c);
GETTER(size_t, starpu_bcsr_get_elemsize, elemsize);
