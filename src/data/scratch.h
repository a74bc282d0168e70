/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers that belong to one execution (STARPU_SCRATCH) or to one worker's contribution
 * (STARPU_REDUX). */
#ifndef ORR_DATA_SCRATCH_H
#define ORR_DATA_SCRATCH_H

#include "core/worker.h"

struct orr_fetch;

/* Provides t->interfaces[i] for worker w. Returns 0 when it can be used, 1 when what rq was made to
 * describe has to be fetched first (its reference is t->access[i].pinned), -EAGAIN when memory is
 * exhausted. Called by the group's thread. */
int orr_scratch_acquire(struct orr_worker *w, struct orr_task *t, unsigned i, struct orr_fetch *rq);
/* The kernel is over, or does not begin: gives all of them back. */
void orr_scratch_release(struct orr_task *t);

#endif
