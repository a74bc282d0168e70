/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of performance counters, sets of them, samples, and listeners
 * (starpu_perf_monitoring.h). monitor.c counts.
 *
 * Invariant: the number of a counter tells its scope and its place there; the places of a scope fit
 * in a mask. */
#ifndef ORR_CORE_COUNTER_H
#define ORR_CORE_COUNTER_H

#include <stdint.h>

#include "base/process.h"

/* The counters of each scope, in the order of their places. */
enum {
	ORR_COUNTER_G_SUBMITTED,
	ORR_COUNTER_G_PEAK_SUBMITTED,
	ORR_COUNTER_G_PEAK_READY,
	ORR_COUNTER_G_EXECUTED,
	ORR_COUNTER_G_CURRENT_SUBMITTED,
	ORR_COUNTER_G_CURRENT_READY
};
enum { ORR_COUNTER_W_EXECUTED, ORR_COUNTER_W_TIME };
enum {
	ORR_COUNTER_C_SUBMITTED,
	ORR_COUNTER_C_PEAK_SUBMITTED,
	ORR_COUNTER_C_PEAK_READY,
	ORR_COUNTER_C_EXECUTED,
	ORR_COUNTER_C_TIME
};
#define ORR_COUNTER_MAX 6 /* places of a scope */

union orr_counter_value {
	int64_t i;
	double d;
};

struct starpu_perf_counter_sample {
	enum starpu_perf_counter_scope scope;
	uint32_t mask; /* the places that are wanted */
	union orr_counter_value value[ORR_COUNTER_MAX];
};

struct starpu_perf_counter_set {
	enum starpu_perf_counter_scope scope;
	uint32_t mask;
};

struct starpu_perf_counter_listener {
	struct starpu_perf_counter_set set;
	void (*callback)(struct starpu_perf_counter_listener *, struct starpu_perf_counter_sample *,
			 void *);
	void *arg;
	unsigned nset; /* atomic: for how many things it is set */
};

#endif
