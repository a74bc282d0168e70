/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write-through (starpu_data_set_wt_mask): copies of a value that was just written.
 *
 * Invariant: a datum without a mask costs one load here. */
#ifndef ORR_DATA_WRITE_THROUGH_H
#define ORR_DATA_WRITE_THROUGH_H

#include "data/handle.h"

/* Copies what was just written on `from` to the nodes of the handle's mask. The caller still holds
 * the datum. Never waits. Without locks. */
void orr_write_through(starpu_data_handle_t h, unsigned from);

/* The same after an access with `mode`, if there is a mask at all. */
static inline void orr_wrote(starpu_data_handle_t h, unsigned from, unsigned mode)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD(&h->ext) != NULL, 0) && (mode & STARPU_W) &&
	    ORR_ATOMIC_LOAD_RELAXED(&h->ext->wt_mask))
		orr_write_through(h, from);
}

#endif
