/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates: how long a task takes on a worker, as far as models know.
 *
 * Invariant: a time is finite and not negative, or NAN: not known. */
#ifndef ORR_PERF_ESTIMATE_H
#define ORR_PERF_ESTIMATE_H

#include <math.h>

#include "perf/query.h"
#include "base/source.h"

struct orr_estimate {
	double us, deviation; /* deviation: standard, 0 if it was not measured */
	enum orr_perf_source source;
};

#define ORR_ESTIMATE_UNKNOWN ((struct orr_estimate){ NAN, 0, ORR_PERF_UNKNOWN })

/* Answers a question, by the first of these sources that knows: the measurements of the footprint;
 * other measurements of the model (the entry of the same size, which is noted once per model, else
 * an interpolation of flops or size between entries); the model's own cost function; with
 * use_defaults the task's flops over the speed of the arch, else a default. */
struct orr_estimate orr_estimate(const struct orr_query *q);
/* Speed in flop/s assumed for an arch without a model: the best that measurements of its type show,
 * else a constant. */
double orr_estimate_flops(struct orr_process *proc, const struct orr_arch *a);

#endif
