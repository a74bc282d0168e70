/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The dense interfaces as payloads: rows of bytes, and how far apart they are.
 *
 * Invariant: blocks that touch each other are one block, so what has no gaps is contiguous. */
#include "base/assert.h"
#include "mpi/mpi.h"

static void set_dim(struct orr_mpi_payload *p, size_t n, size_t stride)
{
	if (n == 1)
		return;
	/* Blocks that touch each other are one block. */
	if (p->ndim == 1 && stride == p->n[0])
		p->n[0] *= n;
	else {
		p->n[p->ndim] = n;
		p->stride[p->ndim++] = stride;
	}
}

int orr_mpi_describe_dense(starpu_data_handle_t h, unsigned node, struct orr_mpi_payload *p)
{
	void *iface = node == STARPU_MAIN_RAM ? orr_handle_iface(h)
					      : starpu_data_get_interface_on_node(h, node);
	enum starpu_data_interface_id id = h->ops->interfaceid;

	p->ndim = 1;
	switch ((int) id) {
	case STARPU_VARIABLE_INTERFACE_ID:
		p->ptr = (char *) STARPU_VARIABLE_GET_PTR(iface);
		p->n[0] = STARPU_VARIABLE_GET_ELEMSIZE(iface);
		break;
	case STARPU_VECTOR_INTERFACE_ID:
		p->ptr = (char *) STARPU_VECTOR_GET_PTR(iface);
		p->n[0] = STARPU_VECTOR_GET_NX(iface) * STARPU_VECTOR_GET_ELEMSIZE(iface);
		break;
	case STARPU_MATRIX_INTERFACE_ID: {
		struct starpu_matrix_interface *m = iface;
		p->ptr = (char *) m->ptr;
		p->n[0] = m->nx * m->elemsize;
		set_dim(p, m->ny, m->ld * m->elemsize);
		break;
	}
	case STARPU_BLOCK_INTERFACE_ID: {
		struct starpu_block_interface *b = iface;
		p->ptr = (char *) b->ptr;
		p->n[0] = b->nx * b->elemsize;
		set_dim(p, b->ny, b->ldy * b->elemsize);
		set_dim(p, b->nz, b->ldz * b->elemsize);
		break;
	}
	case STARPU_TENSOR_INTERFACE_ID: {
		struct starpu_tensor_interface *t = iface;
		p->ptr = (char *) t->ptr;
		p->n[0] = t->nx * t->elemsize;
		set_dim(p, t->ny, t->ldy * t->elemsize);
		set_dim(p, t->nz, t->ldz * t->elemsize);
		set_dim(p, t->nt, t->ldt * t->elemsize);
		break;
	}
	case STARPU_NDIM_INTERFACE_ID: {
		struct starpu_ndim_interface *a = iface;
		if (a->ndim + (a->ndim && a->ldn[0] != 1) > ORR_MPI_MAXDIM)
			return 0;
		p->ptr = (char *) a->ptr;
		p->n[0] = a->elemsize;
		for (size_t i = 0; i < a->ndim;
		     i++) /* where x was picked away, elements do not touch */
			set_dim(p, a->nn[i], a->ldn[i] * a->elemsize);
		break;
	}
	case STARPU_VOID_INTERFACE_ID: p->n[0] = 0; break;
	default: return 0;
	}
	p->size = 1;
	for (unsigned i = 0; i < p->ndim; i++)
		p->size *= p->n[i];
	orr_assert(p->ndim >= 1 && p->ndim <= ORR_MPI_MAXDIM);
	p->form = !p->size ? ORR_FORM_EMPTY : p->ndim == 1 ? ORR_FORM_CONTIGUOUS : ORR_FORM_STRIDED;
	return 1;
}
