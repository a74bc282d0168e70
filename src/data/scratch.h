/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers that belong to one execution (STARPU_SCRATCH) or to one worker's contribution (STARPU_REDUX). */
#ifndef ORR_DATA_SCRATCH_H
#define ORR_DATA_SCRATCH_H

#include "core/worker.h"

/* Provides t->interfaces[i] for worker w. 0 or -ENOMEM. Called by the group's thread. */
int orr_scratch_acquire(struct orr_worker *w, struct orr_task *t, unsigned i);
/* The kernel is over. */
void orr_scratch_release(struct orr_task *t);

#endif
