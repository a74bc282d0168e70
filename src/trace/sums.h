/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums of one thread's events, in blocks of a trace with a limit: they are over all events, so
 * they stay exact when single events go.
 *
 * Invariant: the thread that they belong to is the only one that changes them; they lie in the
 * file, so a process that is killed leaves them as they were. */
#ifndef ORR_TRACE_SUMS_H
#define ORR_TRACE_SUMS_H

#include <stddef.h>

#include "trace/format.h"

/* A kernel that has started and not ended. */
struct orr_trace_kernel {
	uint64_t task, fetch_ns;
	int64_t start_ns;
	uint32_t name;
	int16_t worker;
};

struct orr_trace_sums {
	struct orr_trace_event **table; /* by what they are of; cap is a power of two, or 0 */
	size_t n, cap;
	struct orr_trace_kernel *kernels;
	size_t nkernels, kernels_cap;
};

/* A place for one more sum, all 0, for that thread's stream; NULL: there is none. */
typedef struct orr_trace_event *(*orr_trace_sum_place)(void *of);

/* Adds the event to all sums that it is in. 0, or -ENOMEM: it is missing in some. */
int orr_trace_sums_add(struct orr_trace_sums *s, const struct orr_trace_event *e,
		       orr_trace_sum_place place, void *of);
void orr_trace_sums_exit(struct orr_trace_sums *s);

#endif
