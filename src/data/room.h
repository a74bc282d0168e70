/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trials of how much a memory can take.
 *
 * Invariant: a trial keeps nothing. */
#ifndef ORR_DATA_ROOM_H
#define ORR_DATA_ROOM_H

#include <stddef.h>

struct orr_process;

/* True if so many bytes would fit, when what can be evicted is. Without locks. */
int orr_memory_has_room(struct orr_process *proc, unsigned memnode, size_t size);

#endif
