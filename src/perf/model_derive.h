/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates for footprints that were not measured, from an implementation's history and its fits.
 * Pure functions of the data, called with the model's lock held.
 *
 * Invariant: an estimate is a positive finite time, or NAN with source ORR_PERF_UNKNOWN. */
#ifndef ORR_PERF_MODEL_DERIVE_H
#define ORR_PERF_MODEL_DERIVE_H

#include "perf/estimate.h"
#include "perf/model_data.h"

/* From the entry of the same size. Among several: the entry with the nearest flops, else the one
 * with most samples. */
struct orr_estimate orr_model_derive_same_size(const struct orr_model_impl *impl, size_t size,
					       double flops);
/* Between the nearest entries below and above (by flops if they are known, else by size), on the
 * power law through both. */
struct orr_estimate orr_model_derive_between(const struct orr_model_impl *impl, size_t size,
					     double flops);
/* For a size below or above all that were measured: the nearest entry, and from there on the growth
 * of a curve. That is a x^b + c through the entries of three and more sizes, a x^b through two, and
 * proportion with one. Its source is that of a guess. */
struct orr_estimate orr_model_derive_beyond(const struct orr_model_impl *impl, size_t size);
/* From the fit that the type of the model wants. row: see orr_query_row, or NULL. */
struct orr_estimate orr_model_derive_fit(const struct starpu_perfmodel *model,
					 const struct orr_model_impl *impl, size_t size,
					 const double *row);
/* Deviation over mean of all entries together, each weighted by its samples: a fit has no deviation
 * of its own. */
double orr_model_derive_deviation(const struct orr_model_impl *impl);
/* Speed in flop/s of an entry; 0 if it shows none that a worker can have. */
double orr_model_derive_speed(const struct starpu_perfmodel_history_entry *e);
/* Speed of the entry whose flops are nearest; 0 if no entry shows one. */
double orr_model_derive_nearest_speed(const struct orr_model_impl *impl, double flops);

#endif
