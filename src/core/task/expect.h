/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time that tasks are expected to take: the questions of schedulers and of the simulated world
 * to the models of codelets (perf/estimate.h).
 *
 * Invariant: NAN means "not known". */
#ifndef ORR_CORE_EXPECT_H
#define ORR_CORE_EXPECT_H

#include "base/process.h"
#include "perf/query.h"
#include "base/source.h"

/* Answers what models ask back about tasks. */
extern const struct orr_query_ops orr_expect_ops;

/* Microseconds that implementation nimpl of the task takes on a worker of that arch. use_defaults:
 * a guess, if nothing is known. *source (may be NULL) is where the time comes from. */
double orr_expect_us(struct orr_process *proc, const struct orr_arch *arch,
		     struct starpu_task *task, unsigned nimpl, int use_defaults,
		     enum orr_perf_source *source);
/* The same with defaults, and the standard deviation of the measurements behind it; 0 if it was not
 * measured. */
double orr_expect_spread_us(struct orr_process *proc, const struct orr_arch *arch,
			    struct starpu_task *task, unsigned nimpl, enum orr_perf_source *source,
			    double *deviation_us);
/* Joules of an execution that takes us: by the codelet's energy model; without one, the watts of a
 * busy worker of that type over that time, if the machine's are known. */
double orr_expect_joules(struct orr_process *proc, const struct orr_arch *arch,
			 struct starpu_task *task, unsigned nimpl, double us);
/* The codelet's model learns that the task took that long. Thread-safe. */
void orr_expect_learn(struct orr_process *proc, const struct orr_arch *arch,
		      struct starpu_task *task, unsigned nimpl, double us);

#endif
