/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans of partitions: how they come and go (partition.h has the model).
 *
 * Invariant: a plan is in its father's list from its creation to its destruction. */
#ifndef ORR_DATA_FILTERS_H
#define ORR_DATA_FILTERS_H

#include "data/partition.h"

struct orr_partition *orr_partition_create(starpu_data_handle_t father,
					   struct starpu_data_filter *f);
/* [waits] Until nobody uses the pieces, then frees them and the plan. The value is gathered; node
 * as gather_node. */
void orr_partition_destroy(struct orr_partition *p, int gather_node);

#endif
