/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What transfers and memory management keep for a replicate beyond the common fields.
 *
 * Invariant: exists only for replicates that are on a limited or device memory, or that somebody waits for. */
#ifndef ORR_DATA_TRANSFER_H
#define ORR_DATA_TRANSFER_H

#include "data/handle.h"

struct orr_repl_ext {
	void *waiters;				/* those who wait until it is loaded */
	starpu_data_handle_t handle;
	struct orr_replicate *self;
	struct orr_repl_ext *lru_prev, *lru_next;	/* in the memory node's list */
	size_t bytes;				/* of its buffer, as the interface reported */
};

/* The bookkeeping of r, created when missing; NULL when memory is exhausted. Under the handle's lock. */
struct orr_repl_ext *orr_replicate_ext(struct orr_replicate *r);
/* Copies what was just written on `from` to the nodes of the handle's write-through mask. [waits] */
void orr_write_through(starpu_data_handle_t h, unsigned from);

#endif
