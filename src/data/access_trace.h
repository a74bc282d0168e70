/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last users of a datum, for the recorder: an access that waits for nobody comes after them all
 * the same.
 *
 * Invariant: a handle has no room for them while nothing is recorded. */
#ifndef ORR_DATA_ACCESS_TRACE_H
#define ORR_DATA_ACCESS_TRACE_H

#include "data/access_queue.h"
#include "data/datum/datum.h"
#include "trace/format.h"

#define ORR_LAST_MESSAGE 0x80000000U

/* A cause in 32 bits. One that has no room there counts as the program's. */
static inline uint32_t orr_last_of(uint64_t cause)
{
	uint64_t number = cause & (ORR_CAUSE_TASK - 1);

	if (number >= ORR_LAST_MESSAGE)
		return 0;
	return (uint32_t) number | (cause & ORR_CAUSE_MESSAGE ? ORR_LAST_MESSAGE : 0);
}

static inline uint64_t orr_cause_of_last(uint32_t last)
{
	if (!last)
		return 0;
	return last & ORR_LAST_MESSAGE ? ORR_CAUSE_MESSAGE | (last & ~ORR_LAST_MESSAGE)
				       : ORR_CAUSE_TASK | last;
}

/* Under h->lock: the calling thread ends the access. */
static inline void orr_access_note_end(starpu_data_handle_t h, const struct orr_access *a)
{
	orr_assert_locked(&h->lock);
	if (__builtin_expect(!h->has_users, 1) || orr_access_is_free(a->mode))
		return;
	struct orr_last_users *users = orr_handle_users(h);
	uint32_t last = orr_last_of(orr_thread_self()->cause);

	if (orr_access_class(a->mode) != ORR_CLASS_READ)
		*users = (struct orr_last_users){ .wrote = last };
	else
		users->read = last;
}

#endif
