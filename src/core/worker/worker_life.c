/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of the state machine of a worker (see worker_life.h). In debug builds only.
 *
 * Invariant: the table says the same as the comment in worker_record.h. */
#include "core/worker/worker_life.h"

#ifdef ORR_DEBUG

#define BIT(x) (1U << (x))

static const char *const names[] = {
	[ORR_WORKER_IDLE] = "idle",
	[ORR_WORKER_FETCHING] = "fetching",
	[ORR_WORKER_RUNNING] = "running",
	[ORR_WORKER_JOINED] = "joined",
};

/* The states that may follow each state. A task without data is not fetched for; the leader of a
 * parallel task executes it, and is idle behind it like the other members. */
static const uint8_t next_states[] = {
	[ORR_WORKER_IDLE] = BIT(ORR_WORKER_FETCHING) | BIT(ORR_WORKER_RUNNING) |
			    BIT(ORR_WORKER_JOINED),
	[ORR_WORKER_FETCHING] = BIT(ORR_WORKER_RUNNING),
	[ORR_WORKER_RUNNING] = BIT(ORR_WORKER_IDLE),
	[ORR_WORKER_JOINED] = BIT(ORR_WORKER_FETCHING) | BIT(ORR_WORKER_RUNNING) |
			      BIT(ORR_WORKER_IDLE),
};

void orr_worker_check_arrow(const struct orr_worker *w, unsigned to, const char *where)
{
	orr_assertf(orr_thread_self()->worker == w, "%s: the thread does not step worker %u", where,
		    w->id);
	orr_assertf(next_states[w->state] & BIT(to), "%s: worker %u is %s, and would become %s",
		    where, w->id, names[w->state], names[to]);
}

#endif
