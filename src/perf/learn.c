/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a measured task to a measurement that a model takes (see learn.h). */
#include "perf/learn.h"

#include "base/log.h"
#include "perf/model_learn.h"
#include "perf/model_part.h"
#include "perf/model_state.h"

static unsigned fits_of(const struct starpu_perfmodel *model)
{
	switch (model->type) {
	case STARPU_REGRESSION_BASED: return ORR_FIT_POWER;
	case STARPU_NL_REGRESSION_BASED: return ORR_FIT_POWER | ORR_FIT_OFFSET;
	case STARPU_MULTIPLE_REGRESSION_BASED: return ORR_FIT_MULTI;
	default: return 0;
	}
}

void orr_learn(const struct orr_query *q, const struct starpu_perfmodel_device *devices,
	       int ndevices, double value, unsigned number)
{
	/* No execution takes thirty years, or less than a cycle: such a number is no measurement.
	 */
	if (!(value >= ORR_MODEL_LEAST_MEAN) || value > ORR_MODEL_MOST_MEAN || number == 0 ||
	    q->nimpl >= ORR_MODEL_MAX_IMPLS || ndevices < 1)
		return;

	struct _starpu_perfmodel_state *s = orr_model_state(q->proc, q->model);

	if (!s || !s->m)
		return;

	double row[ORR_MODEL_MAX_COEFFS];
	struct orr_measurement x = { .footprint = orr_query_footprint(q),
				     .size = orr_query_size(q, &devices[0]),
				     .flops = q->task->flops,
				     .us = value,
				     .number = number,
				     .fits = fits_of(q->model) };

	if ((x.fits & ORR_FIT_MULTI) && !orr_query_row(q, row)) {
		x.row = row;
		x.ncols = q->model->ncombinations + 1;
	}
	orr_lock(&s->m->lock);

	int err = orr_model_learn(s->m, ndevices, devices, q->nimpl, &x, orr_perf_cfg(s->perf));

	orr_unlock(&s->m->lock);
	if (err)
		orr_warn("performance model %s: not enough memory, a measurement is lost",
			 q->model->symbol);

	struct orr_model_part *part = orr_model_part(s, ndevices, devices, q->nimpl, 0);

	if (part)
		__atomic_add_fetch(&part->pub.regression.nsample, number, __ATOMIC_RELAXED);
}

void orr_learn_time(const struct orr_query *q, double us)
{
	if (!q->model || q->model->type < STARPU_HISTORY_BASED || orr_sys_is_simulated())
		return;
	struct orr_perf *p = orr_perf_get(q->proc);
	if (!p)
		return;

	struct starpu_perfmodel_device d = orr_arch_device(orr_perf_cfg(p), q->arch);

	orr_learn(q, &d, 1, us, 1);
}
