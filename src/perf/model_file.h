/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contents of one performance model file in memory, its reader and its writer (text format,
 * version 45).
 *
 * A file is a list of combinations of devices; each has implementations; each of these has a
 * regression and a history, one entry per footprint. Lines that start with '#' are comments.
 *
 * Invariant: what orr_model_parse accepts, orr_model_write writes so that orr_model_parse gives the
 * same again; numbers of a file never decide how much memory is asked for at once. */
#ifndef ORR_PERF_MODEL_FILE_H
#define ORR_PERF_MODEL_FILE_H

#include <stdint.h>
#include <stdio.h>
#include "starpu_perfmodel.h"

#define ORR_MODEL_VERSION 45
/* Bounds on what a file may say. */
#define ORR_MODEL_MAX_BYTES (64UL << 20)
#define ORR_MODEL_MAX_COMBS 4096
#define ORR_MODEL_MAX_DEVICES 64
#define ORR_MODEL_MAX_IMPLS 64
#define ORR_MODEL_MAX_ENTRIES 1000000
#define ORR_MODEL_MAX_COEFFS 256
#define ORR_MODEL_MAX_DEVID 4095
#define ORR_MODEL_MAX_CORES 4095
/* So that sums and squares of what a file says stay finite. */
#define ORR_MODEL_MAX_NUMBER 1e100
/* Kinds of devices of the file that have no enum starpu_worker_archtype are kept under their number
 * plus this. */
#define ORR_MODEL_FOREIGN_TYPE 0x100

enum orr_model_fit { ORR_FIT_POWER = 1, ORR_FIT_OFFSET = 2, ORR_FIT_MULTI = 4 };

/* One line of a history, and what was added to it since it was read or last written. */
struct orr_model_entry {
	struct starpu_perfmodel_history_entry pub;
	unsigned dn; /* samples added since */
	double dsum, dsum2;
	unsigned reset; /* measured anew: replaces what the file says */
};

struct orr_model_impl {
	struct starpu_perfmodel_regression_model reg; /* coeff is owned */
	struct starpu_perfmodel_regression_model
		base;                     /* sums of reg as read or last written; no coeff */
	struct orr_model_entry **entries; /* owned; addresses are stable */
	unsigned nentries, capacity;
	/* multiple regression: rows of the design matrix with the time behind, of this run only
	 * (learn.c) */
	double *rows;
	unsigned nrows, rows_capacity, row_next, row_len;
	unsigned fits;          /* mask of enum orr_model_fit: which the program's model wants */
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

/* Reads the text; `name` is the file's name for messages. Returns 0 and *out, or -EINVAL after a
 * message that names file, line and what was expected, or -ENOMEM after a message. *out is
 * untouched on failure. */
int orr_model_parse(const char *text, size_t length, const char *name, struct orr_model_data **out);
/* The same from a file. A file that holds nothing but the name of another one of its folder (a
 * symbolic link that went through a file system or an archive without links) is followed. -ENOENT
 * without a message when it does not exist. */
int orr_model_read(const char *path, struct orr_model_data **out);
/* Reads a whole file of at most `max` bytes, following such names; the caller frees *text, which
 * ends with a zero. Returns 0, -ENOENT silently, or -EINVAL, -EIO or -ENOMEM after a message. */
int orr_model_slurp(const char *path, size_t max, char **text, size_t *length);
/* Writes the file. Returns 0, or -EIO when the stream is in error. */
int orr_model_write(FILE *f, const struct orr_model_data *d);

struct orr_model_data *orr_model_data_new(void);
void orr_model_data_free(struct orr_model_data *d);
/* Finds or makes parts; the makers return NULL when memory is exhausted. An unused regression is
 * all zero with NaN parameters. */
struct orr_model_comb *orr_model_comb_find(const struct orr_model_data *d, int ndevices,
					   const struct starpu_perfmodel_device *devices);
struct orr_model_comb *orr_model_comb_make(struct orr_model_data *d, int ndevices,
					   const struct starpu_perfmodel_device *devices);
struct orr_model_impl *orr_model_impl_make(struct orr_model_comb *c, unsigned nimpl);
struct orr_model_entry *orr_model_entry_find(const struct orr_model_impl *i, uint32_t footprint);
struct orr_model_entry *orr_model_entry_make(struct orr_model_impl *i, uint32_t footprint);
/* Without looking whether there is one already. */
struct orr_model_entry *orr_model_entry_append(struct orr_model_impl *i, uint32_t footprint);

/* "cpu0_impl0", "cuda1_impl0", "cpu0_cores4_impl0"; several devices are joined by '_'. Truncated to
 * maxlen. */
void orr_model_arch_name(int ndevices, const struct starpu_perfmodel_device *devices, int nimpl,
			 char *buf, size_t maxlen);

#endif
