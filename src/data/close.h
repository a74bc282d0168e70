/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ends of handles.
 *
 * Invariant: a handle is destroyed once, by the thread that takes npins to ORR_PINS_LAST after its
 * closing access had its turn. */
#ifndef ORR_DATA_CLOSE_H
#define ORR_DATA_CLOSE_H

#include "data/handle.h"

/* [waits] Until nothing pins h. */
void orr_handle_wait_pins(starpu_data_handle_t h);
/* No further access will come, and none is left but those that pin h: it is destroyed with the last
 * pin, perhaps now. */
void orr_handle_end(starpu_data_handle_t h);

/* For struct orr_data: ends a handle that nobody uses or can pin. Without locks. */
void orr_handle_last_unpin(starpu_data_handle_t h);

#endif
