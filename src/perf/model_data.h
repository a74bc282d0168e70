/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contents of one performance model in memory.
 *
 * A model is a list of combinations of devices; each has implementations; each of these has a
 * regression and a history, one entry per footprint.
 *
 * Invariant: parts are only ever added, and an entry keeps its address until the whole is freed. */
#ifndef ORR_PERF_MODEL_DATA_H
#define ORR_PERF_MODEL_DATA_H

#include <stdint.h>

#include "starpu_perfmodel.h"

/* Bounds on what a model may hold, whatever a file says. */
#define ORR_MODEL_MAX_BYTES (64UL << 20)
#define ORR_MODEL_MAX_COMBS 4096
#define ORR_MODEL_MAX_DEVICES 64
#define ORR_MODEL_MAX_IMPLS 64
#define ORR_MODEL_MAX_ENTRIES 1000000
#define ORR_MODEL_MAX_COEFFS 256
#define ORR_MODEL_MAX_DEVID 4095
#define ORR_MODEL_MAX_CORES 4095
/* Sums and squares of numbers up to this one stay finite. */
#define ORR_MODEL_MAX_NUMBER 1e100
/* The time of a kernel, in microseconds (or joules): up to 30 years. */
#define ORR_MODEL_LEAST_MEAN 1e-9
#define ORR_MODEL_MOST_MEAN 1e15
/* Types of devices that have no enum starpu_worker_archtype are kept under their number in the file
 * plus this. */
#define ORR_MODEL_FOREIGN_TYPE 0x100

enum orr_model_fit { ORR_FIT_POWER = 1, ORR_FIT_OFFSET = 2, ORR_FIT_MULTI = 4 };

/* One line of a history, with the samples added since it was read or last written. */
struct orr_model_entry {
	struct starpu_perfmodel_history_entry pub;
	unsigned dn; /* samples added since */
	double dsum, dsum2;
	unsigned reset; /* measured anew: replaces the line of the file */
};

struct orr_model_impl {
	struct starpu_perfmodel_regression_model reg; /* coeff is owned */
	struct starpu_perfmodel_regression_model
		base;                     /* sums of reg as read or last written; no coeff */
	struct orr_model_entry **entries; /* owned; addresses are stable */
	unsigned nentries, capacity;
	/* Multiple regression: rows of the design matrix, each followed by its time, of this run
	 * only (model_learn.c). */
	double *rows;
	unsigned nrows, rows_capacity, row_next, row_len;
	unsigned fits;          /* mask of enum orr_model_fit that the program's model wants */
	unsigned stale, fitted; /* measurements that arrived since the last fit, and before it */
};

struct orr_model_comb {
	int ndevices;
	struct starpu_perfmodel_device *devices;
	struct orr_model_impl *impls;
	unsigned nimpls;
};

struct orr_model_data {
	struct orr_model_comb **combs;
	unsigned ncombs, capacity;
};

struct orr_model_data *orr_model_data_new(void);
void orr_model_data_free(struct orr_model_data *d);
/* Find or make parts; the makers return NULL if memory is exhausted. An unused regression is all
 * zero with NaN parameters. */
struct orr_model_comb *orr_model_comb_find(const struct orr_model_data *d, int ndevices,
					   const struct starpu_perfmodel_device *devices);
struct orr_model_comb *orr_model_comb_make(struct orr_model_data *d, int ndevices,
					   const struct starpu_perfmodel_device *devices);
struct orr_model_impl *orr_model_impl_make(struct orr_model_comb *c, unsigned nimpl);
struct orr_model_entry *orr_model_entry_find(const struct orr_model_impl *i, uint32_t footprint);
struct orr_model_entry *orr_model_entry_make(struct orr_model_impl *i, uint32_t footprint);
/* Makes an entry without a search for an older one of this footprint. */
struct orr_model_entry *orr_model_entry_append(struct orr_model_impl *i, uint32_t footprint);

#endif
