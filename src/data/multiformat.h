/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Multiformat (27.10). A replicate stores the format of its node's kind; a copy between kinds
 * leaves the data in the source's format in a staging buffer beside it, and a codelet run on the
 * destination converts.
 *
 * Invariant: on a node, the pointer of the node's format is the value. */
#ifndef ORR_DATA_MULTIFORMAT_H
#define ORR_DATA_MULTIFORMAT_H

#include "base/process.h"

/* The codelet that makes node kind `to`'s format out of `from`'s, NULL when the formats are the
 * same. */
struct starpu_codelet *orr_multiformat_codelet(void *interface, enum starpu_node_kind from,
					       enum starpu_node_kind to);
/* True if two nodes store different formats. */
int orr_multiformat_differ(unsigned node, unsigned other);
/* Allocates dst's staging buffer for the format of src_node's kind, if missing. Bytes allocated, or
 * -ENOMEM. The copy does it itself. */
starpu_ssize_t orr_multiformat_stage(void *interface, unsigned node, unsigned src_node);
/* Frees the structure's staging buffers, once converted. */
void orr_multiformat_unstage(void *interface, unsigned node);

#endif
