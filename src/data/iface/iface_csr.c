/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CSR interface: compressed rows. Row i has the entries [rowptr[i], rowptr[i+1]) - firstentry
 * of nzval and colind.
 *
 * Invariant: rowptr[nrow] - rowptr[0] == nnz; nzval, colind and rowptr move together from node to
 * node. */
#include "data/iface/iface_dense.h"
#include "data/iface/iface_parts.h"

ORR_PARTS_INTERFACE(csr, STARPU_CSR_INTERFACE_ID, sizeof(struct starpu_csr_interface),
		    (void *) ((struct starpu_csr_interface *) i)->nzval);

void starpu_csr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz,
			      uint32_t nrow, uintptr_t nzval, uint32_t *colind, uint32_t *rowptr,
			      uint32_t firstentry, size_t elemsize)
{
	struct starpu_csr_interface c = {
		.id = STARPU_CSR_INTERFACE_ID,
		.nnz = nnz,
		.nrow = nrow,
		.nzval = nzval,
		.colind = colind,
		.rowptr = rowptr,
		.firstentry = firstentry,
		.elemsize = elemsize,
	};

	orr_parts_register(handle, home_node, &c, &starpu_interface_csr_ops);
}

#define GETTER(TYPE, FUNCTION, FIELD) \
	ORR_IFACE_GETTER(csr, STARPU_CSR_INTERFACE_ID, TYPE, FUNCTION, FIELD)

GETTER(uint32_t, starpu_csr_get_nnz, nnz);
GETTER(uint32_t, starpu_csr_get_nrow, nrow);
GETTER(uint32_t, starpu_csr_get_firstentry, firstentry);
GETTER(uintptr_t, starpu_csr_get_local_nzval, nzval);
GETTER(uint32_t *, starpu_csr_get_local_colind, colind);
GETTER(uint32_t *, starpu_csr_get_local_rowptr, rowptr);
GETTER(size_t, starpu_csr_get_elemsize, elemsize);
