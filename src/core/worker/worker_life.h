/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state machine of a worker: the arrows along which its state changes, and who may change it.
 * Debug builds check both at each change; other builds only store the state.
 *
 * Invariant: the thread that steps the worker changes its state, by orr_worker_go, and nobody else
 * does. */
#ifndef ORR_CORE_WORKER_LIFE_H
#define ORR_CORE_WORKER_LIFE_H

#include "core/worker/core.h"

/* The calling thread steps the worker. */
#define orr_worker_assert_mine(w) \
	orr_assertf(orr_thread_self()->worker == (w), "the thread does not step worker %u", (w)->id)

#ifdef ORR_DEBUG
/* `where` is the function that changes the state, for the message. */
void orr_worker_check_arrow(const struct orr_worker *w, unsigned to, const char *where);
#else
static inline void orr_worker_check_arrow(const struct orr_worker *w, unsigned to,
					  const char *where)
{
	(void) w;
	(void) to;
	(void) where;
}
#endif

/* Changes the state. */
#define orr_worker_go(w, to) (orr_worker_check_arrow((w), (to), __func__), (w)->state = (to))

#endif
