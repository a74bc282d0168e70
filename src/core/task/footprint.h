/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Footprints of tasks: a hash of the shapes of their data, by which models find measurements.
 *
 * Invariant: a task keeps the footprint that its codelet's time model first asked for. */
#ifndef ORR_CORE_FOOTPRINT_H
#define ORR_CORE_FOOTPRINT_H

#include "core/task/task.h"

/* As the model wants it: by the model's own function, or a CRC over the footprints of the data.
 * model NULL: the latter. */
uint32_t orr_footprint_of(struct starpu_task *task, struct starpu_perfmodel *model);
/* As the time model of the codelet wants it. */
uint32_t orr_footprint_of_task(struct orr_task *t);
/* Bytes of all data of the task. */
size_t orr_footprint_bytes(struct starpu_task *task);

#endif
