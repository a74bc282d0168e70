/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces and slices of data of the dense interfaces: the filters of each are made of these.
 *
 * Invariant: pure arithmetic on the two interface structures; nothing is allocated but the
 * meta-data of an n-dimensional child. */
#ifndef ORR_DATA_FILTER_DENSE_H
#define ORR_DATA_FILTER_DENSE_H

#include "data/iface/iface_dense.h"

/* Ends the program unless `father` is a structure of that built-in interface. */
void orr_filter_check_father(enum starpu_data_interface_id id, const void *father);
/* Pieces: nn[dim] becomes len, starting at `start`; the child may be of another interface with as
 * many dimensions. */
void orr_dense_cut(enum starpu_data_interface_id father_id, void *father,
		   enum starpu_data_interface_id child_id, void *child, unsigned dim,
		   uint32_t start, uint32_t len);
/* Slices: dimension dim is dropped, at index pos. */
void orr_dense_pick(enum starpu_data_interface_id father_id, void *father,
		    enum starpu_data_interface_id child_id, void *child, unsigned dim,
		    uintptr_t pos);
/* One element: pos has one index per dimension. */
void orr_dense_pick_variable(enum starpu_data_interface_id father_id, void *father, void *child,
			     const uint32_t *pos, unsigned id);
/* Piece id of nparts along dim by the common rule; shadow elements on each side (0: none). */
void orr_dense_cut_block(enum starpu_data_interface_id father_id, void *father,
			 enum starpu_data_interface_id child_id, void *child, unsigned dim,
			 unsigned id, unsigned nparts, uintptr_t shadow);

#endif
