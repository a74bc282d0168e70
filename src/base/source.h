/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source of an estimate, best first: models answer with one, worlds add times up by it.
 *
 * Invariant: a smaller one is trusted more. */
#ifndef ORR_BASE_SOURCE_H
#define ORR_BASE_SOURCE_H

enum orr_perf_source {
	ORR_PERF_CALIBRATED,    /* measurements of this footprint, or a fit */
	ORR_PERF_BY_SIZE,       /* measurements of other footprints */
	ORR_PERF_COST_FUNCTION, /* the program */
	ORR_PERF_FLOPS,         /* the task's flops over a speed */
	ORR_PERF_DEFAULT,       /* nothing */
	ORR_PERF_UNKNOWN,
	ORR_PERF_NSOURCES
};

#endif
