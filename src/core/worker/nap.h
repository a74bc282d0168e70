/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells the program that a worker goes to sleep, and that it wakes up (callback_worker_* of struct
 * starpu_conf).
 *
 * Invariant: for each worker the two alternate, going to sleep first; both come from the thread of
 * its group. */
#ifndef ORR_CORE_NAP_H
#define ORR_CORE_NAP_H

#include "core/worker/core.h"

/* The thread of the group is about to sleep: idle workers that are awake go to sleep. The callbacks
 * may submit tasks, so the caller looks for work once more afterwards. */
void orr_nap_begin(struct orr_group *g);
/* Worker w was asleep, and has found something to do. */
void orr_nap_end(struct orr_worker *w);
/* The thread of the group ends. */
void orr_nap_end_all(struct orr_group *g);

#endif
