/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that runs low is evicted or written back ahead by groups that have nothing else to do
 * (STARPU_MINIMUM_AVAILABLE_MEM, STARPU_MINIMUM_CLEAN_BUFFERS).
 *
 * Invariant: nothing happens here unless a memory node has such a limit. */
#ifndef ORR_DATA_TIDY_H
#define ORR_DATA_TIDY_H

#include "data/memory.h"

/* By an idle group when proc->data->untidy. Returns 1 when it got something done. */
int orr_memory_tidy(struct orr_process *proc);

#endif
