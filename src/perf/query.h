/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions to a performance model, and what models ask back about the task.
 *
 * Tasks and their data belong to higher floors: whoever asks passes a table of functions that
 * answer for them (core/task/expect.c).
 *
 * Invariant: nothing here changes the task. */
#ifndef ORR_PERF_QUERY_H
#define ORR_PERF_QUERY_H

#include "perf/arch.h"

struct orr_query_ops {
	/* The footprint of the task as the model (NULL: none) wants it. */
	uint32_t (*footprint)(struct starpu_task *task, struct starpu_perfmodel *model);
	/* Bytes of all data of the task. */
	size_t (*data_size)(struct starpu_task *task);
};

/* The time that implementation nimpl of the task takes on a worker of that arch. */
struct orr_query {
	struct orr_process *proc;
	struct starpu_perfmodel *model; /* NULL: the codelet has none */
	const struct orr_arch *arch;
	struct starpu_task *task;
	unsigned nimpl;
	int use_defaults; /* some time is needed, if only a guess */
	const struct orr_query_ops *ops;
};

static inline uint32_t orr_query_footprint(const struct orr_query *q)
{
	return q->ops->footprint(q->task, q->model);
}

/* The size of the task on device d: as the program's functions for the model say, else the bytes of
 * its data. */
size_t orr_query_size(const struct orr_query *q, const struct starpu_perfmodel_device *d);
/* Fills row[model->ncombinations + 1] with the products that the coefficients of a multiple
 * regression multiply. 0, or -EINVAL if the model does not describe its parameters. */
int orr_query_row(const struct orr_query *q, double *row);

#endif
