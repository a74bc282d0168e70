/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions of models about a task (see query.h). */
#include "perf/query.h"

#include <errno.h>
#include <math.h>

#include "perf/model_data.h"
#include "perf/model_part.h"
#include "perf/model_state.h"

size_t orr_query_size(const struct orr_query *q, const struct starpu_perfmodel_device *d)
{
	struct _starpu_perfmodel_state *s = orr_model_state(q->proc, q->model);
	struct orr_model_part *part = s && s->parts ? orr_model_part(s, 1, d, q->nimpl, 0) : NULL;

	if (part && part->pub.size_base) {
		struct starpu_perfmodel_device copy = *d;
		struct starpu_perfmodel_arch arch = { .ndevices = 1, .devices = &copy };

		return part->pub.size_base(q->task, &arch, q->nimpl);
	}
	return q->model->size_base ? q->model->size_base(q->task, q->nimpl)
				   : q->ops->data_size(q->task);
}

int orr_query_row(const struct orr_query *q, double *row)
{
	const struct starpu_perfmodel *model = q->model;
	double parameters[ORR_MODEL_MAX_COEFFS];

	if (!model->parameters || !model->combinations || model->nparameters == 0 ||
	    model->nparameters > ORR_MODEL_MAX_COEFFS ||
	    model->ncombinations + 1 > ORR_MODEL_MAX_COEFFS)
		return -EINVAL;
	model->parameters(q->task, parameters);
	row[0] = 1;
	for (unsigned c = 0; c < model->ncombinations; c++) {
		double product = 1;

		for (unsigned i = 0; i < model->nparameters; i++)
			product *= pow(parameters[i], model->combinations[c][i]);
		row[c + 1] = product;
	}
	return 0;
}
