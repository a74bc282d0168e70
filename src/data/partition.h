/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Partitioned data: plans, and the switches between a datum and its pieces (handbook 27.5).
 *
 * A piece is a handle whose buffer on one memory node, the plan's, lies inside the father's buffer
 * there; on other nodes it has buffers of its own, like any handle. A switch is a task that
 * executes nowhere and accesses the father and all pieces: so it stands in their access queues in
 * submission order, and everything else is asynchronous. Its body brings the value to the plan's
 * node and changes which of the two views is valid.
 *
 * Two states are kept apart: orr_partition.state and the handles' busy_partition describe the end
 * of the submission order, and the submitting thread writes them; replicates describe the effect of
 * the switches executed so far.
 *
 * Invariants: while a plan exists, the father's buffer on the plan's node stays where it is
 * (referenced by the plan). An active plan's father is not an inactive piece, nor a read-only one
 * when the plan is read-write. While a plan is read-write no other plan of its father is active and
 * the father has no valid replicate. */
#ifndef ORR_DATA_PARTITION_H
#define ORR_DATA_PARTITION_H

#include "data/handle.h"

enum orr_view { ORR_VIEW_NONE, ORR_VIEW_READ, ORR_VIEW_WRITE };

struct orr_partition {
	struct orr_partition *next; /* of the same father */
	starpu_data_handle_t father;
	starpu_data_handle_t *piece; /* npieces of them, owned */
	size_t *size;                /* theirs, which must not change */
	size_t father_size;
	void *father_ptr; /* its buffer on the plan's node, as the interface tells it */
	unsigned npieces;
	unsigned node;       /* memory node where the pieces lie in the father's buffer */
	uint8_t state;       /* enum orr_view at the end of the submission order */
	uint8_t sync;        /* made by starpu_data_partition: never switched by itself */
	uint8_t overlapping; /* pieces share elements: they can only be read */
};

enum orr_switch_kind {
	ORR_SWITCH_CUT,       /* none -> read-write pieces */
	ORR_SWITCH_CUT_READ,  /* none -> read-only pieces */
	ORR_SWITCH_UPGRADE,   /* read-only -> read-write pieces */
	ORR_SWITCH_DOWNGRADE, /* read-write -> read-only pieces */
	ORR_SWITCH_GATHER,    /* read-write pieces -> none */
	ORR_SWITCH_DROP,      /* read-only pieces, or none -> none */
};

struct orr_switch_options {
	int gather_node; /* where the father's value is wanted at the end, -1: wherever it is */
	int unordered;   /* outside of sequential consistency */
	int synchronous;
	void (*callback)(void *);
	void *callback_arg;
};

#endif
