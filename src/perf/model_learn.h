/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements enter models.
 *
 * Invariant: entry->{dn,dsum,dsum2}, and reg minus base, are exactly what the file of the model
 * does not hold yet. */
#ifndef ORR_PERF_MODEL_LEARN_H
#define ORR_PERF_MODEL_LEARN_H

#include "base/config.h"
#include "perf/model.h"

/* One measurement: `number` executions that took us each on average. */
struct orr_measurement {
	uint32_t footprint;
	size_t size;
	double flops;
	double us;
	unsigned number;
	unsigned fits;     /* mask of enum orr_model_fit */
	const double *row; /* of the design matrix of a multiple regression, or NULL */
	unsigned ncols;
};

/* The functions below require the model's lock, or that nobody else knows the data. */

/* 0 or -ENOMEM. */
int orr_model_learn(struct orr_model *m, int ndevices,
		    const struct starpu_perfmodel_device *devices, unsigned nimpl,
		    const struct orr_measurement *x, const struct orr_config *cfg);
/* Brings the fits of an implementation up to date with the measurements. */
void orr_model_refit(struct orr_model_impl *impl, const struct orr_config *cfg);
/* Adds what `mine` learnt since it was read to `file`, a newer reading of the same file. 0 or
 * -ENOMEM. */
int orr_model_merge(struct orr_model_data *file, struct orr_model_data *mine);
/* The file holds now what mine learnt. */
void orr_model_settle(struct orr_model_data *mine);

#endif
