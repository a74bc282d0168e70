/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The dense interfaces as payloads: rows of bytes, and how far apart they are.
 *
 * Invariant: a datum without gaps is contiguous (base/mpi_layout.h). */
#include "base/assert.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/datatype.h"

int orr_mpi_describe_dense(starpu_data_handle_t h, unsigned node, struct orr_mpi_payload *p)
{
	void *iface = node == STARPU_MAIN_RAM ? orr_handle_iface(h)
					      : starpu_data_get_interface_on_node(h, node);
	enum starpu_data_interface_id id = h->ops->interfaceid;
	struct orr_layout *l = &p->layout;

	switch ((int) id) {
	case STARPU_VARIABLE_INTERFACE_ID:
		p->ptr = (char *) STARPU_VARIABLE_GET_PTR(iface);
		orr_layout_row(l, STARPU_VARIABLE_GET_ELEMSIZE(iface));
		break;
	case STARPU_VECTOR_INTERFACE_ID:
		p->ptr = (char *) STARPU_VECTOR_GET_PTR(iface);
		orr_layout_row(l, STARPU_VECTOR_GET_NX(iface) * STARPU_VECTOR_GET_ELEMSIZE(iface));
		break;
	case STARPU_MATRIX_INTERFACE_ID: {
		struct starpu_matrix_interface *m = iface;
		p->ptr = (char *) m->ptr;
		orr_layout_row(l, m->nx * m->elemsize);
		orr_layout_repeat(l, m->ny, m->ld * m->elemsize);
		break;
	}
	case STARPU_BLOCK_INTERFACE_ID: {
		struct starpu_block_interface *b = iface;
		p->ptr = (char *) b->ptr;
		orr_layout_row(l, b->nx * b->elemsize);
		orr_layout_repeat(l, b->ny, b->ldy * b->elemsize);
		orr_layout_repeat(l, b->nz, b->ldz * b->elemsize);
		break;
	}
	case STARPU_TENSOR_INTERFACE_ID: {
		struct starpu_tensor_interface *t = iface;
		p->ptr = (char *) t->ptr;
		orr_layout_row(l, t->nx * t->elemsize);
		orr_layout_repeat(l, t->ny, t->ldy * t->elemsize);
		orr_layout_repeat(l, t->nz, t->ldz * t->elemsize);
		orr_layout_repeat(l, t->nt, t->ldt * t->elemsize);
		break;
	}
	case STARPU_NDIM_INTERFACE_ID: {
		struct starpu_ndim_interface *a = iface;
		if (a->ndim + (a->ndim && a->ldn[0] != 1) > ORR_LAYOUT_MAXDIM)
			return 0;
		p->ptr = (char *) a->ptr;
		orr_layout_row(l, a->elemsize);
		for (size_t i = 0; i < a->ndim;
		     i++) /* where x was picked away, elements do not touch */
			orr_layout_repeat(l, a->nn[i], a->ldn[i] * a->elemsize);
		break;
	}
	case STARPU_VOID_INTERFACE_ID: orr_layout_row(l, 0); break;
	default: return 0;
	}
	orr_assert(l->ndim >= 1 && l->ndim <= ORR_LAYOUT_MAXDIM);
	p->form = !l->size ? ORR_FORM_EMPTY : l->ndim == 1 ? ORR_FORM_CONTIGUOUS : ORR_FORM_STRIDED;
	return 1;
}
