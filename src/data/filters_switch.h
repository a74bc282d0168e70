/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Switches between a datum and its pieces (partition.h has the model).
 *
 * Invariant: a switch is a task; what it changes in the state of a plan is changed before it is
 * submitted. */
#ifndef ORR_DATA_FILTERS_SWITCH_H
#define ORR_DATA_FILTERS_SWITCH_H

#include "data/partition.h"

/* Submits the task; o may be NULL. Fatal when memory is exhausted. */
void orr_switch_submit(struct orr_partition *p, enum orr_switch_kind kind,
		       const struct orr_switch_options *o);

#endif
