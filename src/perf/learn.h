/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measured tasks teach their models.
 *
 * Invariant: a value that cannot be a measurement changes nothing. */
#ifndef ORR_PERF_LEARN_H
#define ORR_PERF_LEARN_H

#include "perf/query.h"

/* Adds a measurement to q->model: `number` executions of implementation q->nimpl of the task on
 * these devices, with that mean value (microseconds or joules). Thread-safe. */
void orr_learn(const struct orr_query *q, const struct starpu_perfmodel_device *devices,
	       int ndevices, double value, unsigned number);
/* The task took that long on q->arch. Does nothing if the program's model is not learnt from
 * measurements, or if the run is simulated: its times come from the model. */
void orr_learn_time(const struct orr_query *q, double us);

#endif
