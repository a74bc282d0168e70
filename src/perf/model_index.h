/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index of a loaded model: from combination, implementation and footprint to what is known.
 *
 * Invariant: readers take no lock. An index is replaced by a larger one, never changed in size. */
#ifndef ORR_PERF_MODEL_INDEX_H
#define ORR_PERF_MODEL_INDEX_H

#include "perf/model.h"

static inline uint32_t orr_model_index_unit(int type, int devid, int ncores)
{
	return ((uint32_t) (type + 1) << 24) | ((uint32_t) devid << 12) | (uint32_t) ncores;
}

static inline uint64_t orr_model_index_key(unsigned comb, unsigned impl, uint32_t footprint)
{
	return 1ULL << 63 | (uint64_t) comb << 40 | (uint64_t) impl << 32 | footprint;
}

static inline unsigned orr_model_index_hash(uint64_t key)
{
	return (unsigned) ((key * 0x9E3779B97F4A7C15ULL) >> 32);
}

static inline struct orr_model_slot *orr_model_index_lookup(struct orr_model_index *x, uint64_t key)
{
	for (unsigned h = orr_model_index_hash(key);; h++) {
		struct orr_model_slot *s = ORR_ATOMIC_LOAD(&x->slots[h & x->mask]);

		if (!s || s->key == key)
			return s;
	}
}

/* The number of the combination that stands for a device: its own, else the first one of the same
 * type and number of cores; -1: none. */
int orr_model_index_find(const struct orr_model_index *x, int type, int devid, int ncores);

/* The functions below require the model's lock, unless nobody else knows the model yet. They return
 * 0 or -ENOMEM. */

/* Puts a slot for an entry (a derived one if entry is NULL) into the index, in place of an older
 * one with the same key. */
int orr_model_index_put(struct orr_model *m, uint64_t key, struct orr_model_entry *entry, double us,
			double deviation, enum orr_perf_source source);
/* Rebuilds the index if combinations were added to the model's data. */
int orr_model_index_combs(struct orr_model *m);
/* Makes the first index, with all entries of the model's data. */
int orr_model_index_all(struct orr_model *m);
void orr_model_index_free(struct orr_model *m);

#endif
