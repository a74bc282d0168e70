/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lower bounds of the time that recorded tasks take.
 *
 * Invariant: a bound is never above the time of an actual execution with the same times of tasks.
 */
#ifndef ORR_CORE_BOUND_H
#define ORR_CORE_BOUND_H

#include "core/task/graph.h"

/* The least time in microseconds in which all recorded tasks fit on the units, each task cut at
 * will; counts them by type. */
double orr_bound_area_us(struct orr_graph *g);

#endif
