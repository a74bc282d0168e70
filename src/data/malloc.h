/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Allocation of main memory with the program's hooks (handbook 27.2). */
#ifndef ORR_DATA_MALLOC_H
#define ORR_DATA_MALLOC_H

#include "base/process.h"

/* A buffer for data: from the program's hook when set and memnode is main memory, else from the
 * world. NULL when exhausted. */
void *orr_malloc_hooked(struct orr_process *proc, unsigned memnode, size_t size, int flags);
void orr_free_hooked(struct orr_process *proc, unsigned memnode, void *ptr, size_t size, int flags);

#endif
