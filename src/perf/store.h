/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded performance models, shared by all processes that live in this one (the ranks of a
 * simulated run), and their files.
 *
 * Readers find measurements without a lock through an index that is replaced, never changed in
 * size; writers hold the model's lock.
 *
 * Invariant: an index, a slot and an entry stay valid until the last user releases the model. The
 * list of loaded models is the only state outside of a process's context: it caches files, which
 * all ranks see alike. */
#ifndef ORR_PERF_STORE_H
#define ORR_PERF_STORE_H

#include <sys/stat.h>
#include "perf/model_file.h"
#include "perf/perf.h"

/* What is known of one footprint: a line of the history, or something derived from the whole
 * history. */
struct orr_model_slot {
	uint64_t key;
	struct orr_model_entry *entry; /* NULL: derived */
	double us, deviation;          /* derived ones */
	enum orr_perf_source source;
	struct orr_model_slot *next_owned;
};

struct orr_model_index {
	struct orr_model_index *older; /* kept for readers that still look at it */
	unsigned mask, used;
	unsigned ncombs;
	uint32_t *units; /* combination -> orr_model_unit_key, 0 for several devices */
	struct orr_model_slot *slots[]; /* atomic */
};

struct orr_model {
	orr_lock_t lock; /* protects everything but the index's readers */
	char *key;       /* place, machine and symbol; NULL: private to one user */
	char *symbol, *machine;
	char path[256]; /* of the file that it was read from, truncated; or empty */
	unsigned refs;  /* protected by the list's lock */
	struct orr_model *next;
	struct orr_model_data *data;
	struct orr_model_index *index; /* atomic */
	struct orr_model_slot *owned;
	unsigned learning; /* atomic: measurements arrive, derived slots do not hold */
	unsigned dirty;    /* something to write */
	unsigned broken;   /* the file is malformed: it is not overwritten */
	unsigned noted;    /* atomic: use of other footprints was reported */
	unsigned discard;  /* the file of that identity is to be forgotten (STARPU_CALIBRATE=2) */
	dev_t old_dev;
	ino_t old_ino;
	struct timespec old_mtime;
};

/* The model of a symbol: the first file found in `dirs` (NULL-terminated), else an empty one. With
 * discard the file is not read, and replaced when the model is saved. NULL when memory is
 * exhausted. */
struct orr_model *orr_model_acquire(const char *symbol, const char *machine,
				    const char *const *dirs, int discard);
/* One that nobody else shares, taking over data. */
struct orr_model *orr_model_private(const char *symbol, struct orr_model_data *data);
void orr_model_release(struct orr_model *m);
/* Path of the first existing file of the symbol in dirs. 0 or -ENOENT. */
int orr_model_locate(const char *symbol, const char *machine, const char *const *dirs, char *path,
		     size_t size);
/* Where it is written. */
int orr_model_write_path(const char *symbol, const char *machine, const char *dir, char *path,
			 size_t size);
/* Adds what was learnt to the file in `dir`, which other processes may be writing too. 0, or -errno
 * after a message. */
int orr_model_save(struct orr_model *m, const char *dir);

static inline uint32_t orr_model_unit_key(int type, int devid, int ncores)
{
	return ((uint32_t) (type + 1) << 24) | ((uint32_t) devid << 12) | (uint32_t) ncores;
}

static inline uint64_t orr_model_slot_key(unsigned comb, unsigned impl, uint32_t footprint)
{
	return 1ULL << 63 | (uint64_t) comb << 40 | (uint64_t) impl << 32 | footprint;
}

/* Number of the combination that stands for a unit: itself, else the first of the same kind and
 * number of cores; -1: none. */
int orr_model_find_unit(const struct orr_model_index *x, int type, int devid, int ncores);

static inline struct orr_model_slot *orr_model_lookup(struct orr_model_index *x, uint64_t key)
{
	unsigned h = (unsigned) ((key * 0x9E3779B97F4A7C15ULL) >> 32);
	for (;; h++) {
		struct orr_model_slot *s = ORR_ATOMIC_LOAD(&x->slots[h & x->mask]);
		if (!s || s->key == key)
			return s;
	}
}

/* Under the model's lock: puts a slot for an entry (or a derived one when entry is NULL) into the
 * index, in place of an older one of the same key; rebuilds the index when combinations were added.
 * 0 or -ENOMEM. */
int orr_model_index_put(struct orr_model *m, uint64_t key, struct orr_model_entry *entry, double us,
			double deviation, enum orr_perf_source source);
int orr_model_index_combs(struct orr_model *m);

/* learn.c, under the model's lock. One measurement of `number` executions that took us each on
 * average. */
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
int orr_model_learn(struct orr_model *m, int ndevices,
		    const struct starpu_perfmodel_device *devices, unsigned nimpl,
		    const struct orr_measurement *x, const struct orr_config *cfg);
/* Brings the fits of an implementation up to date with what was measured. */
void orr_model_refit(struct orr_model_impl *impl, const struct orr_config *cfg);
/* Adds what `mine` learnt since it was read to `file`, a newer reading of the same file. 0 or
 * -ENOMEM. */
int orr_model_merge(struct orr_model_data *file, struct orr_model_data *mine);
/* What mine learnt is in the file now. */
void orr_model_settled(struct orr_model_data *mine);

#endif
