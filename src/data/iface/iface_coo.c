/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The COO interface: n_values triplets (column, row, value) of an nx by ny matrix.
 *
 * Invariant: columns, rows and values have n_values entries each and move together from node to
 * node. */
#include "data/iface/iface_parts.h"

ORR_PARTS_INTERFACE(coo, STARPU_COO_INTERFACE_ID, sizeof(struct starpu_coo_interface),
		    (void *) ((struct starpu_coo_interface *) i)->values);

void starpu_coo_data_register(starpu_data_handle_t *handleptr, int home_node, uint32_t nx,
			      uint32_t ny, uint32_t n_values, uint32_t *columns, uint32_t *rows,
			      uintptr_t values, size_t elemsize)
{
	struct starpu_coo_interface c = {
		.id = STARPU_COO_INTERFACE_ID,
		.columns = columns,
		.rows = rows,
		.values = values,
		.nx = nx,
		.ny = ny,
		.n_values = n_values,
		.elemsize = elemsize,
	};

	orr_parts_register(handleptr, home_node, &c, &starpu_interface_coo_ops);
}
