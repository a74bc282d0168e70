/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mapping: a replicate on a device that reaches main memory's buffer instead of having one of its
 * own (starpu_conf.enable_map).
 *
 * Invariant: a mapped replicate is allocated, is not `mine`, and the buffer behind it stays where
 * it is: it is the program's, or lies inside the father's buffer, or it is the runtime's in a main
 * memory without limit, whose maps end before it is given back. Validity (MSI) is kept as if the
 * replicate had a buffer; a copy between it and main memory becomes an update of the map. */
#ifndef ORR_DATA_MAPPING_H
#define ORR_DATA_MAPPING_H

#include "data/handle.h"

/* Maps main memory's buffer for r, which has none; data without a home get one for it. Returns true
 * if that was possible. Under h->lock. */
int orr_mapping_begin(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *r);
/* Ends the map of r, if it is one. Under h->lock. */
void orr_mapping_end(starpu_data_handle_t h, struct orr_replicate *r);
/* Does anybody use a map of h? Then main memory's buffer must stay. Under h->lock. */
int orr_mapping_in_use(starpu_data_handle_t h);
/* Main memory's buffer goes: ends the maps of it, which nobody uses. Under h->lock. */
void orr_mapping_end_all(starpu_data_handle_t h);
/* True if both are main memory's buffer: a copy from one to the other only updates maps. Under
 * h->lock. */
static inline int orr_mapping_joins(const struct orr_replicate *src,
				    const struct orr_replicate *dst)
{
	return (src->mapped || dst->mapped) && (src->mapped || src->memnode == STARPU_MAIN_RAM) &&
	       (dst->mapped || dst->memnode == STARPU_MAIN_RAM);
}
/* Makes what was written through one visible to the other. Without locks. 0 or -errno. */
int orr_mapping_update(starpu_data_handle_t h, struct orr_replicate *src,
		       struct orr_replicate *dst);

#endif
